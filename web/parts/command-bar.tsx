/** Ctrl-K: go anywhere, find a loop and act on it, without the mouse. */
import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { badgeOf } from '../badge.ts'
import { useHasFleet } from '../data/has-fleet.ts'
import { useQuery } from '../data/query.ts'
import { go } from '../data/route.ts'
import type { OutputOf } from '../data/source.ts'
import { newTask } from '../screens/task-dialog.tsx'
import { folderName, titleOf } from '../words.ts'
import { actionsFor } from './actions.tsx'
import { Dialog } from './dialog.tsx'
import { helpShown } from './keys.tsx'
import { theme } from './settings.ts'
import { attempt } from './toast.tsx'

const shown = signal(false)

export function openCommandBar(): void {
  shown.value = true
}

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  shown.value = !shown.value
})

export function CommandBar() {
  return shown.value ? <OpenBar /> : null
}

type Choice = { key: string; words: string; note: string; run: () => unknown }

function OpenBar() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const asked = useQuery('list_loops', { limit: 8, ...(text.trim() ? { text: text.trim() } : {}) }).value?.loops
  // Until the server answers, show earlier results that still match.
  const known = useRef<readonly Listed[]>([])
  const found = asked ?? known.current.filter(({ prompt }) => matches(prompt, text))
  known.current = found
  const hasFleet = useHasFleet()
  const places = PLACES.filter(({ key, words }) => matches(words, text) && (hasFleet || key !== 'fleet'))
  const choices = [...places, ...found.flatMap(choicesFor)].slice(0, 30)
  const chosen = choices[Math.min(at, choices.length - 1)]
  const close = () => {
    shown.value = false
  }
  const run = (choice: Choice | undefined) => {
    close()
    if (choice) void attempt(choice.run)
  }
  useEffect(() => list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' }), [at])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') run(chosen)
    else if (event.key === 'ArrowDown') setAt(Math.min(at + 1, choices.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Command bar" close={close}>
      <div class="command-bar">
        <input
          role="combobox"
          aria-expanded="true"
          aria-controls="choices"
          aria-activedescendant={chosen ? `choice-${chosen.key}` : undefined}
          aria-label="Command or search"
          placeholder="Type a command or search for a loop …"
          autofocus
          value={text}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
        />
        <ul id="choices" role="listbox" aria-label="Choices" ref={list}>
          {choices.map((choice) => (
            <li
              key={choice.key}
              id={`choice-${choice.key}`}
              role="option"
              aria-selected={choice === chosen}
              onMouseDown={(event) => {
                event.preventDefault()
                run(choice)
              }}
            >
              <span>{choice.words}</span>
              <span class="muted">{choice.note}</span>
            </li>
          ))}
        </ul>
        {choices.length === 0 && <p class="muted">No matches.</p>}
      </div>
    </Dialog>
  )
}

function matches(words: string, text: string): boolean {
  return words.toLowerCase().includes(text.trim().toLowerCase())
}

type Listed = OutputOf<'list_loops'>['loops'][number]

function choicesFor(loop: Listed): Choice[] {
  const title = titleOf(loop.prompt)
  const note = `${folderName(loop.dir)} · ${badgeOf(loop).word}`
  const actions = actionsFor({ ...loop, title })
  return [
    { key: loop.id, words: title, note, run: () => go(`/loops/${loop.id}`) },
    ...actions.map(({ name, words, run }) => ({
      key: `${loop.id}-${name}`,
      words: `${words.replace(' …', '')}: ${title}`,
      note: loop.id,
      run,
    })),
  ]
}

const PLACES: readonly Choice[] = [
  ['loops', 'Loops'],
  ['needs', 'Needs you'],
  ['fleet', 'Fleet'],
  ['board', 'Board'],
  ['panes', 'Panes'],
  ['analytics', 'Analytics'],
  ['agents', 'Agents'],
  ['settings', 'Settings'],
]
  .map(([path = '', words = '']): Choice => ({ key: path, words, note: 'Go to', run: () => go(`/${path}`) }))
  .concat([
    { key: 'new', words: 'New task', note: 'Create', run: () => newTask() },
    {
      key: 'theme',
      words: 'Switch between light and dark',
      note: 'Settings',
      run: () => {
        const isDark =
          theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
        theme.value = isDark ? 'light' : 'dark'
      },
    },
    {
      key: 'keys',
      words: 'Keyboard shortcuts',
      note: 'Help',
      run: () => {
        helpShown.value = true
      },
    },
  ])
