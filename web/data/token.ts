/** The server's token: it follows `#` in the URL, and is kept in this browser for this origin. */
const KEY = 'ralph-token'

export function takeToken(): string | undefined {
  const found = /^#t=([\w-]+)$/.exec(location.hash)?.[1]
  if (found !== undefined) {
    keepToken(found)
    history.replaceState(null, '', location.pathname + location.search)
  }
  return found ?? localStorage.getItem(KEY) ?? undefined
}

export function keepToken(token: string): void {
  localStorage.setItem(KEY, token)
}

export function forgetToken(): void {
  localStorage.removeItem(KEY)
}
