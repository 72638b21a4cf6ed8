/** Shows the state of a project. */
import { join } from 'node:path'
import { plan } from '../engine/schedule.ts'
import type { Obstacle } from '../formats/obstacles.ts'
import type { TaskProof } from '../formats/results.ts'
import { parseTasks, type Task } from '../formats/tasks.ts'
import { openProject, readFace } from '../project/folder.ts'
import { isHeld } from '../project/lock.ts'
import { storedRecord } from '../project/past.ts'
import { iterationsOf, planned, proofsOf, readLists } from '../project/record.ts'
import { spendingOf } from '../project/results.ts'
import { given } from '../request/given.ts'
import type { Operation } from './operation.ts'

export type FoundProject = {
  name: string
  folder: string
  /** Absent: there is no task list yet. */
  tasks?: Task[]
  /** The proof of each completed task. */
  proofs: TaskProof[]
  /** A process is working on it right now. */
  alive: boolean
  iterations: number
  entries: number
  workedMs: number
  loops: string[]
  /** Running tasks, and their loops. */
  open: { task: string; loop: string }[]
  /** Open ones. */
  obstacles: Obstacle[]
  costUsd: number
  tokens: number
  /** Why nothing can start now; absent: it can continue. */
  stop?: string
}

export const getProject: Operation<{ project: string }, FoundProject> = {
  name: 'get_project',
  effect: 'read',
  summary: 'Shows a project: its tasks, what they used, and what blocks them.',
  async run(context, { project: name }) {
    const store = context.store()
    const project = openProject(context.cwd, name)
    const text = readFace(project, 'tasks.json')
    const record = await storedRecord(project, store)
    const { obstacles, entries } = readLists(project)
    const tasks = text === undefined ? undefined : parseTasks(text, join(project.folder, 'tasks.json')).tasks
    const open = (record?.open ?? []).map(({ task, loop }) => ({ task, loop }))
    const stop = tasks && whyStopped(tasks, open)
    return {
      name,
      folder: project.folder,
      ...(tasks ? { tasks } : {}),
      proofs: proofsOf(tasks ?? [], record),
      alive: isHeld(project),
      iterations: iterationsOf(record, entries),
      entries: entries.length,
      workedMs: record?.workedMs ?? 0,
      loops: record?.loops ?? [],
      open,
      obstacles: obstacles.filter(({ resolved }) => !resolved),
      ...(await spendingOf({ loops: record?.loops ?? [] }, store)),
      ...given({ stop }),
    }
  },
}

function whyStopped(tasks: readonly Task[], open: FoundProject['open']): string | undefined {
  const begun = new Set(open.map(({ task }) => task))
  const going = { working: new Set<string>(), begun, asking: new Map<string, string>(), slots: 1 }
  const next = plan(tasks.map(planned), going)
  return next.kind === 'stop' ? next.sentence : undefined
}
