/** Two small dialogs: one asks for text, one for confirmation. */
import { useState } from 'preact/hooks'
import { Button } from './common.tsx'
import { Dialog } from './dialog.tsx'

type Asking = {
  title: string
  label: string
  hint: string
  send: string
  optional?: boolean
  close: () => void
  run: (words: string) => Promise<unknown>
}

export function Ask({ title, label, hint, send, optional = false, close, run }: Asking) {
  const [words, setWords] = useState('')
  const [error, setError] = useState('')
  const submit = async () => {
    if (!optional && !words.trim()) return setError('Write something first.')
    try {
      await run(words.trim())
      close()
    } catch (cause) {
      setError((cause as Error).message)
    }
  }
  return (
    <Dialog title={title} close={close}>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <label>
          {label}
          <textarea
            rows={4}
            value={words}
            maxLength={10_000}
            autofocus
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit()
            }}
          />
        </label>
        <p class="muted">{hint}</p>
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <Button run={close}>Cancel</Button>
          <Button kind="primary" run={submit}>
            {send}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

type Confirming = {
  title: string
  text: string
  yes: string
  danger?: boolean
  close: () => void
  run: () => Promise<unknown>
  more?: readonly { words: string; run: () => Promise<unknown> }[]
}

export function Confirm({ title, text, yes, danger = false, close, run, more = [] }: Confirming) {
  const [error, setError] = useState('')
  const attempt = (work: () => Promise<unknown>) => async () => {
    try {
      await work()
      close()
    } catch (cause) {
      setError((cause as Error).message)
    }
  }
  return (
    <Dialog title={title} close={close}>
      <div class="ask">
        <p>{text}</p>
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <Button run={close}>Not now</Button>
          {more.map(({ words, run: work }) => (
            <Button key={words} run={attempt(work)}>
              {words}
            </Button>
          ))}
          <Button kind={danger ? 'danger' : 'primary'} run={attempt(run)}>
            {yes}
          </Button>
        </footer>
      </div>
    </Dialog>
  )
}
