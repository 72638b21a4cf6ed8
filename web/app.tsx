/** The frame around the screens: navigation, connection state, and the open dialog. */
import { useEffect } from 'preact/hooks'
import { useHasFleet } from './data/has-fleet.ts'
import { connection } from './data/live.ts'
import { anyLoop, anyTask, useQuery } from './data/query.ts'
import { addressOf, go, route } from './data/route.ts'
import { forgetToken, keepToken } from './data/token.ts'
import { CommandBar, openCommandBar } from './parts/command-bar.tsx'
import { Button, Link } from './parts/common.tsx'
import { helpShown, KeysHelp, useShortcuts } from './parts/keys.tsx'
import { Modal } from './parts/modal.tsx'
import { notifyAbout } from './parts/notify.ts'
import { Toasts } from './parts/toast.tsx'
import { screenAt } from './screens/index.tsx'
import { newTask } from './screens/task-dialog.tsx'
import { folderName, money } from './words.ts'

export function App() {
  const overview = useQuery('get_overview', {}, (message) => anyLoop(message) || anyTask(message)).value
  const needs = overview?.unread ?? 0
  const { path, query } = route.value
  const screen = screenAt(path)
  useEffect(() => {
    document.title = `${needs > 0 ? `(${needs}) ` : ''}${screen.title} · ralph`
  }, [needs, screen.title])
  useEffect(() => notifyAbout(needs), [needs])
  const hasFleet = useHasFleet()
  useShortcuts(hasFleet ? [...GLOBAL, TO_FLEET] : GLOBAL)
  const refused = connection.value.kind === 'refused' ? connection.value : undefined
  if (refused?.code.startsWith('token')) return <SignIn message={refused.message} />
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <aside class="side">
        <Link to="/loops" class="brand">
          <img src="/icon.svg" alt="" width="22" height="22" /> ralph
        </Link>
        <nav aria-label="Screens">
          {PLACES.filter(({ to }) => hasFleet || to !== '/fleet').map(({ to, words, number }) => (
            <Link key={to} to={to} aria-current={path.startsWith(to) ? 'page' : undefined}>
              <span>{words}</span>
              <span class={`number${to === '/needs' && needs ? ' hot' : ''}`}>{overview && number?.(overview)}</span>
            </Link>
          ))}
        </nav>
        {overview && overview.folders.length > 1 && (
          <nav class="folders" aria-label="Folders">
            <h2>Folders</h2>
            {overview.folders.slice(0, 8).map(({ dir, loops }) => (
              <Link
                key={dir}
                to={addressOf('/loops', { dir })}
                title={dir}
                aria-current={query.dir === dir ? 'page' : undefined}
              >
                <span>{folderName(dir)}</span>
                <span class="number">{loops}</span>
              </Link>
            ))}
          </nav>
        )}
        {overview && (
          <dl class="today">
            <dt>Spent today</dt>
            <dd>{money(overview.todayUsd)}</dd>
          </dl>
        )}
        <ConnectionLine />
      </aside>
      <LostBar />
      <main id="main">{screen.view}</main>
      <Modal />
      <CommandBar />
      <KeysHelp />
      <Toasts />
    </div>
  )
}

type Overview = NonNullable<ReturnType<typeof useQuery<'get_overview'>>['value']>

type Place = { to: string; words: string; number?: (overview: Overview) => number | undefined }

const PLACES: readonly Place[] = [
  { to: '/loops', words: 'Loops', number: ({ loops }) => loops },
  { to: '/needs', words: 'Needs you', number: ({ needsYou }) => needsYou || undefined },
  { to: '/fleet', words: 'Fleet' },
  { to: '/board', words: 'Board', number: ({ tasks }) => sum(Object.values(tasks)) },
  { to: '/panes', words: 'Panes' },
  { to: '/analytics', words: 'Analytics' },
  { to: '/agents', words: 'Agents' },
  { to: '/settings', words: 'Settings' },
]

function sum(numbers: readonly number[]): number | undefined {
  return numbers.reduce((total, one) => total + one, 0) || undefined
}

const GLOBAL = [
  { keys: 'g l', words: 'Go to loops', run: () => go('/loops') },
  { keys: 'g n', words: 'Go to what needs you', run: () => go('/needs') },
  { keys: 'g b', words: 'Go to the board', run: () => go('/board') },
  { keys: 'g p', words: 'Go to panes', run: () => go('/panes') },
  { keys: 'g a', words: 'Go to analytics', run: () => go('/analytics') },
  { keys: 'g e', words: 'Go to agents', run: () => go('/agents') },
  { keys: 'g s', words: 'Go to settings', run: () => go('/settings') },
  { keys: 'n', words: 'New task', run: () => newTask() },
  { keys: ':', words: 'Command bar', run: openCommandBar },
  {
    keys: '?',
    words: 'Keyboard shortcuts',
    run: () => {
      helpShown.value = true
    },
  },
]

const TO_FLEET = { keys: 'g f', words: 'Go to the fleet', run: () => go('/fleet') }

function ConnectionLine() {
  const { kind } = connection.value
  return (
    <p class={`connection ${kind}`}>
      {kind === 'live' ? 'Connected' : kind === 'connecting' ? 'Connecting …' : 'Not connected'}
      <button
        type="button"
        class="button quiet"
        onClick={() => {
          helpShown.value = true
        }}
      >
        Keys ?
      </button>
    </p>
  )
}

/** Floats above the content, so nothing moves when the connection is lost or restored. */
function LostBar() {
  const now = connection.value
  if (now.kind === 'refused')
    return (
      <p class="lost" role="alert">
        {now.message} <Button run={() => location.reload()}>Reload the page</Button>
      </p>
    )
  if (now.kind !== 'lost' || Date.now() - now.since < 1_000) return null
  return (
    <p class="lost" role="status">
      The server is not responding. This page may be out of date; it reconnects on its own. Is <code>ralph serve</code>{' '}
      running?
    </p>
  )
}

export function SignIn({ message }: { message: string }) {
  return (
    <main class="sign-in">
      <h1>ralph</h1>
      <p>
        {message} Open the address that <code>ralph serve</code> printed, or paste it (or the token alone) here:
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const text = String(new FormData(event.currentTarget).get('token') ?? '').trim()
          const token = /t=([\w-]+)/.exec(text)?.[1] ?? text
          if (!token) return
          forgetToken()
          keepToken(token)
          location.reload()
        }}
      >
        <label>
          Address or token
          <input name="token" autocomplete="off" spellcheck={false} required />
        </label>
        <button type="submit" class="button primary">
          Open the board
        </button>
      </form>
      <p class="muted">
        It is kept only in this browser. To find it: <code>cat ~/.ralph/server-token</code>.
      </p>
    </main>
  )
}
