/** A dialog with a form of several fields; errors appear inside it, and nothing typed is lost. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './common.tsx'
import { Dialog } from './dialog.tsx'
import { closeModal } from './modal.tsx'

/** The `text` of an empty field is undefined. */
export type Fields = { text(name: string): string | undefined; isOn(name: string): boolean }

export function FormDialog({
  title,
  send,
  children,
  run,
}: {
  title: string
  send: string
  children: ComponentChildren
  run: (fields: Fields) => Promise<unknown>
}) {
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const data = new FormData(form)
    setBusy(true)
    try {
      await run({
        text: (name) => String(data.get(name) ?? '').trim() || undefined,
        isOn: (name) => data.has(name),
      })
      closeModal()
    } catch (cause) {
      setError((cause as Error).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={title} close={closeModal}>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault()
          if (!busy) void submit(event.currentTarget)
        }}
      >
        {children}
        {error && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <footer>
          <Button run={closeModal}>Cancel</Button>
          <Button kind="primary" type="submit">
            {send}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
