/** Records a finished turn and its outcome in the project files, once. */
import { ended, type Loop } from '../engine/loop.ts'
import { cutTo, oneLine } from '../formats/one-line.ts'
import { changedPaths, repositoryAt } from '../host/branch.ts'
import { brokenName } from '../host/files.ts'
import { readable } from '../host/git.ts'
import { maskIn } from '../host/mask.ts'
import { applyEdits, type Edits, readEdits } from './edits.ts'
import { clearWay, type FaceName, readFace, writeFace } from './folder.ts'
import { troubleWords, withNoted } from './noted.ts'
import { projectOf } from './owner.ts'
import { type Open, type OpenTurn, openOf, type ProjectRecord, replaceOpen, withTask } from './record.ts'
import type { Site } from './site.ts'

/** `done`: it completed the task. The loop alone does not show that: its work must also have arrived on the branch. */
export async function enterTurn(site: Site, loop: Loop, done = false): Promise<void> {
  const { keeper } = site
  const at = projectOf(loop)
  const open = openOf(keeper.record, at.task)
  if (!open.turn && done) return keeper.change((record) => arrivedLater(record, at.task))
  if (!open.turn || !isOver(loop, open.turn)) return
  const edits = open.turn.edits ?? takeEdits(site, at)
  for (const text of edits.notes) site.note(at.task, text)
  const files = await filesOf(open.turn.tree, loop.tally.tree, loop.spec.work.dir, edits)
  await keeper.change((record) => entered(record, { open, loop, edits, files, done }))
  await keeper.restore()
  site.hold()
}

/** Whether it was judged, or failed: then the loop is at another attempt, or has ended. */
function isOver(loop: Loop, turn: OpenTurn): boolean {
  if (loop.next.kind === 'check' || loop.next.kind === 'prove') return false
  return hasWorked(loop, turn) || ended(loop) || loop.tally.attempt > (turn.attempt ?? Number.POSITIVE_INFINITY)
}

function hasWorked({ tally }: Loop, { n }: OpenTurn): boolean {
  return n <= tally.iteration
}

/** What the agent left in the files. Unreadable ones are set aside. */
export function takeEdits(site: Site, { task, folder }: { task: string; folder: string }): Edits {
  const shared = folder === site.project.folder
  clearWay({ folder })
  const faces = Object.fromEntries(FACES.map((name) => [name, readFace({ folder }, name)]))
  const edits = masked(readEdits(site.keeper.record, faces, { task, shared }))
  for (const name of edits.broken) if (shared) setAside(site, name)
  return edits
}

const FACES = ['spec.md', 'tasks.json', 'state.json', 'obstacles.json'] as const

/** Masks what an agent writes about its work. The tasks belong to the user. */
function masked({ entry, obstacles, notes, ...edits }: Edits): Edits {
  return { ...edits, obstacles: maskIn(obstacles), notes: maskIn(notes), ...(entry ? { entry: maskIn(entry) } : {}) }
}

function setAside({ project, now, note }: Site, name: FaceName): void {
  const text = readFace(project, name)
  if (text === undefined) return
  const kept = brokenName(name, now())
  writeFace(project, kept, text)
  note('', `The agent's version of ${name} is kept as ${kept}.`)
}

/** Its last turn was recorded as unfinished, but now its work has arrived after all. */
function arrivedLater(record: ProjectRecord, task: string): ProjectRecord {
  const last = record.entries.findLast(({ task_id }) => task_id === task)
  const entries = last ? [...record.entries, { ...last, status: 'completed' as const }] : record.entries
  return withTask({ ...record, entries }, task, { status: 'completed', blocked: false })
}

/** Measured with git if possible, otherwise as the agent says. */
async function filesOf(
  before: string | undefined,
  after: string | undefined,
  dir: string,
  { entry }: Edits,
): Promise<string[]> {
  const repo = await repositoryAt(dir)
  const [from, to] = [before, after].map((tree) => tree?.split(' ')[0])
  if (!repo || from === undefined || to === undefined) return entry?.files_modified ?? []
  return ((await changedPaths(repo, from, to)) ?? []).map(readable)
}

type Entering = { open: Open; loop: Loop; edits: Edits; files: string[]; done: boolean }

function entered(record: ProjectRecord, { open, loop, edits, files, done }: Entering): ProjectRecord {
  const { task, turn, before } = open
  if (!turn) return record
  const worked = hasWorked(loop, turn)
  const { record: taken, ids } = applyEdits(
    record,
    { ...edits, notes: [...open.notes, ...edits.notes] },
    { task, iteration: turn.iteration },
  )
  const noted = withNoted(taken, { task, turn, worked, done })
  const blocked = worked && loop.next.kind === 'wait' && loop.next.why === 'person' && edits.says === 'blocked'
  const named = (edits.entry?.obstacles ?? []).map((id) => ids.get(id) ?? id)
  const mine = noted.obstacles.filter(({ iteration, task_id }) => iteration === turn.iteration && task_id === task)
  const entry = {
    ...edits.entry,
    iteration: turn.iteration,
    task_id: task,
    status: done ? ('completed' as const) : ('attempted' as const),
    summary: worked ? summaryOf(edits, loop) : troubleOf(edits, turn, loop),
    files_modified: files,
    obstacles: [...new Set([...named, ...mine.map(({ id }) => id)])],
  }
  const { turn: _, ...rest } = open
  return withTask(replaceOpen({ ...noted, entries: [...noted.entries, entry] }, { ...rest, notes: [] }), task, {
    status: done ? 'completed' : blocked ? 'blocked' : loop.next.kind === 'halt' ? 'pending' : 'in_progress',
    blocked,
    // Counted when the task was picked up; a turn at a conflict was not.
    ...(worked || loop.id !== open.loop ? {} : { attempts: before + loop.tally.iteration }),
  })
}

function summaryOf({ entry }: Edits, { tally }: Loop): string {
  return entry?.summary || firstLine(tally.words) || 'The agent left no summary.'
}

function troubleOf({ entry }: Edits, { trouble }: OpenTurn, { next }: Loop): string {
  const broken = next.kind === 'halt' && next.reason === 'cancelled' ? 'cancelled' : 'interrupted'
  const what = trouble ? troubleWords(trouble) : `It was ${broken} before the agent finished.`
  return [cutTo(oneLine(what), 300), ...(entry?.summary ? [`The agent wrote: ${entry.summary}`] : [])].join(' ')
}

function firstLine(words: string): string {
  return (words.trim().split('\n')[0] ?? '').slice(0, 300)
}
