/** Everything works from the keyboard: screens register their keys, and `?` lists them. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Kbd } from './common.tsx'
import { Dialog } from './dialog.tsx'

/** `keys`: one key (`j`), or two in a row (`g l`). */
export type Shortcut = { keys: string; words: string; run: () => void }

/** Read when a key is pressed, so that the second of two keys sees what the first one did. */
type Held = { current: readonly Shortcut[] }

const known = signal<readonly Held[]>([])
export const helpShown = signal(false)

/** The newest screen wins. `list` may change with every render. */
export function useShortcuts(list: readonly Shortcut[]): void {
  const held = useRef(list)
  held.current = list
  useEffect(() => {
    known.value = [...known.peek(), held]
    return () => {
      known.value = known.peek().filter((one) => one !== held)
    }
  }, [])
}

let first = ''

export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    if (event.key === 'Enter' && isPressed(event.target)) return
    if (document.querySelector('dialog[open]')) return
    const found = find(event.key)
    first = found === 'begun' ? event.key : ''
    if (!found) return
    event.preventDefault()
    if (found !== 'begun') found.run()
  })
}

function find(key: string): Shortcut | 'begun' | undefined {
  const all = [...known.peek()].reverse().flatMap(({ current }) => current)
  const both = first ? all.find(({ keys }) => keys === `${first} ${key}`) : undefined
  return (
    both ??
    all.find(({ keys }) => keys === key) ??
    (all.some(({ keys }) => keys.startsWith(`${key} `)) ? 'begun' : undefined)
  )
}

/** Enter belongs to the focused element. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, summary') !== null
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

export function KeysHelp() {
  if (!helpShown.value) return null
  const close = () => {
    helpShown.value = false
  }
  return (
    <Dialog title="Keyboard shortcuts" close={close}>
      <table class="keys">
        <tbody>
          {known.value
            .flatMap(({ current }) => current)
            .map(({ keys, words }) => (
              <tr key={keys + words}>
                <td>
                  {keys.split(' ').map((key) => (
                    <Kbd key={key}>{NAMES[key] ?? key}</Kbd>
                  ))}
                </td>
                <td>{words}</td>
              </tr>
            ))}
          <tr>
            <td>
              <Kbd>Ctrl</Kbd>
              <Kbd>K</Kbd>
            </td>
            <td>Command bar: go anywhere, find a loop, act on it</td>
          </tr>
          <tr>
            <td>
              <Kbd>Tab</Kbd>
            </td>
            <td>Moves to every button and field; Escape closes what is open</td>
          </tr>
        </tbody>
      </table>
    </Dialog>
  )
}

const NAMES: Readonly<Record<string, string>> = { Enter: '↵', ArrowDown: '↓', ArrowUp: '↑' }
