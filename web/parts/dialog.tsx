/** A dialog: the browser keeps the focus inside, Escape closes it, and the focus returns to where it was. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

export function Dialog({
  title,
  children,
  close,
  wide = false,
}: {
  title: string
  children: ComponentChildren
  close: () => void
  wide?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  // At once: the next key already belongs to it.
  useLayoutEffect(() => {
    const before = document.activeElement
    box.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={box}
      class={wide ? 'wide' : ''}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        close()
      }}
      onMouseDown={(event) => event.target === box.current && close()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="button quiet" aria-label="Close" onClick={close}>
          ×
        </button>
      </header>
      {children}
    </dialog>
  )
}
