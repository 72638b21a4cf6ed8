/** The current place in the page: all of it is in the URL, so it can be shared, reopened and navigated back to. */
import { type Signal, signal } from '@preact/signals'

export type Route = { path: string; query: Readonly<Record<string, string>> }

/** A report is a file, whose URL path cannot change: there the place follows `#`. */
const inFile = document.getElementById('summary') !== null

export const route: Signal<Route> = signal(readRoute())

function readRoute(): Route {
  const text = inFile ? location.hash.replace(/^#\/?/, '/') || '/' : location.pathname + location.search
  const [path = '/', query = ''] = text.split('?')
  return { path, query: Object.fromEntries(new URLSearchParams(query)) }
}

export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (inFile && replace) location.replace(`#${to}`)
  else if (inFile) location.hash = to
  else if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  route.value = readRoute()
  if (!replace) scrollTo(0, 0)
}

export function watchRoute(): void {
  const read = () => {
    route.value = readRoute()
  }
  addEventListener('popstate', read)
  addEventListener('hashchange', read)
}

/** The same place with other filters; empty ones are left out of the URL. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const { path, query } = route.peek()
  return addressOf(path, { ...query, ...changes })
}

export function addressOf(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const set = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []))
  const text = new URLSearchParams(set).toString()
  return text ? `${path}?${text}` : path
}

/** The link to a place inside the page. */
export function href(to: string): string {
  return inFile ? `#${to}` : to
}
