/** Answers a loop right below its question: with a reply, or by allowing changed tests. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { refreshAll } from '../data/query.ts'
import { addressOf } from '../data/route.ts'
import { call, type InputOf, once } from '../data/source.ts'
import { Button, Link } from '../parts/common.tsx'
import { toast } from '../parts/toast.tsx'

export type Asked = {
  loop: string
  iteration: number
  question?: string | undefined
  /** Changed tests that wait to be allowed, with what was found in them. */
  paths?: readonly { path: string; words: string }[] | undefined
}

type Answering = { asked: Asked; focus?: boolean; children?: ComponentChildren }

/** `focus`: puts the cursor into the box at once. `children`: further actions. */
export function AnswerBox({ asked, focus = false, children }: Answering) {
  const { loop, question, paths } = asked
  const [sent, setSent] = useState('')
  const send = async (what: Omit<InputOf<'answer'>, 'loop'>, told: string) => {
    const text = `${told} ${await heardBy(loop, what)}`
    setSent(text)
    toast({ text }) // the box disappears once the question is answered
    refreshAll()
  }
  if (sent)
    return (
      <p class="callout green" role="status">
        {sent}
      </p>
    )
  return (
    <div class="answer">
      {question && <p class="question">{question}</p>}
      {paths && <Allow asked={asked} send={(chosen) => send({ allow: true, paths: chosen }, 'Allowed.')} />}
      <Words
        label={paths ? 'Or say what to do instead' : 'Your answer'}
        focus={focus}
        isOnly={!paths}
        send={(words) => send({ words }, `Sent: “${words}”`)}
      >
        {children}
      </Words>
    </div>
  )
}

/** Carries it out, and says who received it. */
async function heardBy(loop: string, what: Omit<InputOf<'answer'>, 'loop'>): Promise<string> {
  const told = await call('answer', { loop, ...what }, once())
  if (told.heard === 'later') return told.how
  if (told.heard === 'nobody') return `No process is running this loop. Run: ralph resume ${loop}`
  return 'The loop continues.'
}

const JUDGE = 'Use your judgment.'

type Sending = {
  label: string
  focus: boolean
  isOnly: boolean
  send(words: string): Promise<void>
  children: ComponentChildren
}

function Words({ label, focus, isOnly, send, children }: Sending) {
  const [words, setWords] = useState('')
  const [error, setError] = useState('')
  const box = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (focus) box.current?.focus()
  }, [])
  const attempt = (text: string) => async () => {
    setError('')
    if (!text.trim()) {
      setError('Write an answer first.')
      return box.current?.focus()
    }
    await send(text.trim()).catch((cause: Error) => setError(cause.message))
  }
  return (
    <>
      <label>
        {label}
        <textarea
          ref={box}
          rows={isOnly ? 3 : 2}
          maxLength={10_000}
          value={words}
          aria-invalid={error !== ''}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void attempt(words)()
          }}
        />
      </label>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <p class="answer-actions">
        <Button kind={isOnly ? 'primary' : 'plain'} run={attempt(words)} title="Ctrl+Enter">
          Send
        </Button>
        {isOnly && <Button run={attempt(JUDGE)}>Use your judgment</Button>}
        {children}
      </p>
    </>
  )
}

function Allow({ asked, send }: { asked: Asked; send(paths: string[]): Promise<void> }) {
  const { paths = [], loop, iteration } = asked
  const [refused, setRefused] = useState<readonly string[]>([])
  const [error, setError] = useState('')
  const chosen = paths.flatMap(({ path }) => (refused.includes(path) ? [] : [path]))
  const run = () => send(chosen).catch((cause: Error) => setError(cause.message))
  return (
    <fieldset class="allow">
      <legend>
        Changed tests or configuration.{' '}
        <Link to={addressOf(`/loops/${loop}`, { i: String(iteration), tab: 'diff' })}>See the diff</Link>
      </legend>
      {paths.map(({ path, words }) => (
        <label key={path}>
          <input
            type="checkbox"
            checked={!refused.includes(path)}
            onChange={({ currentTarget }) =>
              setRefused(currentTarget.checked ? refused.filter((one) => one !== path) : [...refused, path])
            }
          />
          <span>
            <code>{path}</code> <small>{words}</small>
          </span>
        </label>
      ))}
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <Button kind="primary" disabled={chosen.length === 0} run={run}>
        {chosen.length === paths.length ? 'Allow' : `Allow ${chosen.length} of ${paths.length}`}
      </Button>
    </fieldset>
  )
}
