/** The user's preferences in this browser. */
import { effect, type Signal, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

export const theme: Signal<Theme> = kept('ralph-theme', 'system', ['system', 'light', 'dark'])
export const notify: Signal<'on' | 'off'> = kept('ralph-notify', 'off', ['on', 'off'])

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme.value
})

function kept<Value extends string>(key: string, usual: Value, known: readonly Value[]): Signal<Value> {
  const setting = signal(known.find((one) => one === read(key)) ?? usual)
  effect(() => write(key, setting.value))
  // Another tab may change it.
  addEventListener('storage', (event) => {
    const found = event.key === key ? known.find((one) => one === event.newValue) : undefined
    if (found) setting.value = found
  })
  return setting
}

/** A page opened from disk may have no storage. */
function read(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // it lasts until the page is closed
  }
}
