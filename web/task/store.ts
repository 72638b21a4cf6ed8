/** Saves a task from the form, starts it, and says which field the server refused. */
import type { RalphError } from '../../src/error.ts'
import type { BoardTask } from '../../src/formats/board-task.ts'
import { go } from '../data/route.ts'
import { call, once } from '../data/source.ts'
import { toast } from '../parts/toast.tsx'
import { capital } from '../words.ts'
import { changesOf, type Draft, NEW } from './draft.ts'

/** `before`: the task as it was read; absent for a new one. */
export async function storeTask(draft: Draft, before: BoardTask | undefined, key: { key: string }): Promise<BoardTask> {
  const changes = changesOf(draft, before ?? NEW)
  if (!before) return call('create_task', { ...changes, title: draft.title.trim() }, key)
  if (Object.keys(changes).length === 0) return before
  const { title, ...rest } = changes
  const patch = { ...rest, ...(title == null ? {} : { title }) }
  return call('update_task', { task_id: before.id, ...patch }, { ...key, version: before.version })
}

export async function startTask(task: string): Promise<void> {
  const { loop, why, queued } = await call('start_loop', { task_id: task }, once())
  toast({
    tone: 'green',
    text: [queued ? 'Queued: it starts when a slot is free.' : 'Started.', ...(why ? [`${capital(why)}.`] : [])].join(
      ' ',
    ),
    action: { words: 'Open', run: () => go(`/loops/${loop}`) },
  })
}

export type Problem = { field: string; message: string; isConflict: boolean }

/** The name of the field in the form; empty if the form has none. */
export function problemOf(cause: unknown, form: ParentNode | null, before: string): Problem {
  const { message, code, field: told = '' } = cause as RalphError
  const name = told === 'dir' ? 'repo' : code?.startsWith('agent-') ? 'agent' : told
  return {
    field: fieldAt(form, name) ? name : '',
    message: before + capital(message.replace(/^\w+: /, '').replace(`${told} must`, 'must')),
    isConflict: code === 'task-changed',
  }
}

/** `stages[0].name`, or else `stages`. */
export function fieldAt(form: ParentNode | null, name: string): HTMLElement | undefined {
  const all = [...(form?.querySelectorAll<HTMLElement>('[data-field]') ?? [])]
  return name === ''
    ? undefined
    : (all.find(named(name)) ?? all.find((one) => name.startsWith(one.dataset.field ?? ' ')))
}

function named(name: string): (one: HTMLElement) => boolean {
  return ({ dataset }) => dataset.field === name
}
