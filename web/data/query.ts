/** Answers of operations, kept while somebody looks at them and refreshed whenever they may have changed. */
import { type Signal, signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { answerKey } from '../../src/formats/recorded.ts'
import { call, type InputOf, type LiveMessage, type News, type OperationName, type OutputOf } from './source.ts'

/** `value` stays during a refresh, so that nothing jumps. */
export type Answer<Value> = { value?: Value; error?: Error; loading: boolean }

/** Whether this message may change the answer. */
export type Wakes = (message: LiveMessage) => boolean

type Entry = {
  answer: Signal<Answer<unknown>>
  /** Its viewers, each with the messages that refresh it for them. */
  users: Set<{ current: Wakes }>
  /** Asks the source; an answer that arrives after a newer request was sent is dropped. */
  ask(): Promise<unknown>
  busy: boolean
  again: boolean
  askedAt: number
  timer?: ReturnType<typeof setTimeout> | undefined
}

const entries = new Map<string, Entry>()
const MOST_KEPT = 60
/** The least time between two refreshes, however much happens. */
const SHORTEST_MS = 300

const never: Wakes = () => false

/** Without an input it asks nothing. */
export function useQuery<Name extends OperationName>(
  name: Name,
  input: InputOf<Name> | undefined,
  wakes: Wakes = never,
): Answer<OutputOf<Name>> & { refresh(): void } {
  const key = input === undefined ? '' : answerKey(name, input)
  const entry = input === undefined ? undefined : entryFor(key, name, input)
  const user = useRef(wakes)
  user.current = wakes
  useEffect(() => {
    if (!entry) return
    entry.users.add(user)
    refresh(entry)
    return () => {
      entry.users.delete(user)
      forgetOldest()
    }
  }, [key])
  const answer = (entry?.answer.value ?? NOTHING) as Answer<OutputOf<Name>>
  return { ...answer, refresh: () => entry && refresh(entry) }
}

const NOTHING: Answer<never> = { loading: false }

function entryFor<Name extends OperationName>(key: string, name: Name, input: InputOf<Name>): Entry {
  const known = entries.get(key)
  if (known) {
    entries.delete(key)
    entries.set(key, known) // now the newest
    return known
  }
  const entry: Entry = {
    answer: signal<Answer<unknown>>({ loading: true }),
    users: new Set(),
    ask: () => call(name, input),
    busy: false,
    again: false,
    askedAt: 0,
  }
  entries.set(key, entry)
  return entry
}

function refresh(entry: Entry): void {
  if (entry.busy) {
    entry.again = true
    return
  }
  clearTimeout(entry.timer)
  entry.timer = undefined
  entry.busy = true
  entry.askedAt = Date.now()
  void entry
    .ask()
    .then(
      (value) => {
        entry.answer.value = { value, loading: false }
      },
      (error: Error) => {
        entry.answer.value = { ...entry.answer.peek(), error, loading: false }
      },
    )
    .finally(() => {
      entry.busy = false
      if (!entry.again) return
      entry.again = false
      soon(entry)
    })
}

function soon(entry: Entry): void {
  if (entry.busy) entry.again = true
  else entry.timer ??= setTimeout(() => refresh(entry), Math.max(0, SHORTEST_MS - (Date.now() - entry.askedAt)))
}

/** Refreshes every visible answer that the message may concern. */
export function hear(news: News): void {
  for (const entry of entries.values())
    if ([...entry.users].some(({ current: wakes }) => news.kind === 'back' || wakes(news.message))) soon(entry)
}

/** After the user's own action: now, not when the message arrives. */
export function refreshAll(): void {
  for (const entry of entries.values()) if (entry.users.size > 0) refresh(entry)
}

function forgetOldest(): void {
  for (const [key, { users }] of entries) {
    if (entries.size <= MOST_KEPT) return
    if (users.size === 0) entries.delete(key)
  }
}

export const anyLoop: Wakes = ({ type }) => type === 'loop-start' || type === 'loop-event'
export const anyTask: Wakes = ({ type }) => type === 'task-change' || type === 'loop-event'
export const anyPane: Wakes = ({ type }) => type === 'pane-change' || type === 'loop-event'

export function ofLoop(id: string): Wakes {
  return (message) => 'loop' in message && message.loop === id && message.type !== 'log'
}
