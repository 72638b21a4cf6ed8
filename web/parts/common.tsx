/** The small components every screen is built from. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Badge } from '../badge.ts'
import { go, href } from '../data/route.ts'
import { attempt } from './toast.tsx'

export function BadgeView({ badge }: { badge: Badge }) {
  return (
    <span class={`badge ${badge.tone}${badge.busy ? ' busy' : ''}`}>
      <span aria-hidden="true">{badge.mark}</span> <span class="word">{badge.word}</span>
    </span>
  )
}

/** A link inside the page changes the URL without loading anything; with a modifier key it is an ordinary link. */
export function Link({
  to,
  children,
  ...more
}: {
  to: string
  children: ComponentChildren
  class?: string
  title?: string
  'aria-current'?: 'page' | undefined
  'aria-label'?: string
}) {
  return (
    <a
      {...more}
      href={href(to)}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

export type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet'

/** Disabled while `run` is in progress; errors are shown as a message. */
export function Button({
  children,
  run,
  kind = 'plain',
  disabled = false,
  title,
  label,
  type = 'button',
}: {
  children: ComponentChildren
  run?: () => unknown
  kind?: ButtonKind
  disabled?: boolean
  title?: string
  label?: string
  type?: 'button' | 'submit'
}) {
  const [busy, setBusy] = useState(false)
  const press = async () => {
    if (busy || !run) return
    setBusy(true)
    await attempt(run)
    setBusy(false)
  }
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled}
      aria-busy={busy}
      title={title}
      aria-label={label}
      onClick={run ? () => void press() : undefined}
    >
      {children}
    </button>
  )
}

/** Text with commands in backticks. */
export function Sentence({ text }: { text: string }) {
  return <>{text.split('`').map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>
}

/** What went wrong and what to do, in the server's words. */
export function Problem({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{error.message}</p>
      {retry && <Button run={retry}>Try again</Button>}
    </div>
  )
}

/** An empty state that explains what belongs here. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** A command to run, with a copy button. */
export function Code({ children }: { children: string }) {
  return (
    <span class="code-line">
      <code>{children}</code>
      <Copy text={children} />
    </span>
  )
}

export function Copy({ text, words = 'Copy' }: { text: string | (() => string); words?: string }) {
  const [done, setDone] = useState(false)
  const copy = async () => {
    // Browsers offer no clipboard over plain HTTP from another machine.
    if (!navigator.clipboard) throw new Error('This browser allows copying only over HTTPS or on this machine.')
    await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
    setDone(true)
    setTimeout(() => setDone(false), 1_500)
  }
  return (
    <Button kind="quiet" run={copy}>
      {done ? 'Copied' : words}
    </Button>
  )
}

/** A placeholder of the size of what is being loaded, so that nothing jumps. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, at) => (
        <span key={at} />
      ))}
    </div>
  )
}

export function Kbd({ children }: { children: string }) {
  return <kbd>{children}</kbd>
}
