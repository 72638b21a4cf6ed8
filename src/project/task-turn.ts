/** One turn at a task: picked up, judged by what the agent wrote into the project's files, and entered there once. */
import type { TurnNext } from '../drive/drive.ts'
import type { Loop, Turn } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { bringBack, changedPaths, holdsHistory, readHead, repositoryAt } from '../host/branch.ts'
import { brokenName } from '../host/files.ts'
import { readable } from '../host/git.ts'
import { maskIn } from '../host/mask.ts'
import { rollBack } from '../host/roll-back.ts'
import type { Tree } from '../host/tree.ts'
import { applyEdits, type Edits, readEdits } from './edits.ts'
import { clearWay, type FaceName, readFace, removeFace, writeFace } from './folder.ts'
import { projectOf } from './owner.ts'
import { type Open, openOf, type ProjectRecord, replaceOpen, withTask } from './record.ts'
import type { Site } from './site.ts'

/** `folder` is where the agent finds the project's files. */
type Turning = { loop: Loop; next: TurnNext; folder: { folder: string } }

/** The task is picked up: it gets a number, the attempt is counted, the files are as they should be. False: no turn is left. */
export async function beginTurn(
  site: Site,
  task: string,
  { loop, next, folder, attempts }: Turning & { attempts?: number },
): Promise<boolean> {
  const { keeper, turns } = site
  if (site.rest.aborted || !site.mayTurn()) return false
  const open = openOf(keeper.record, task)
  if (open.turn?.n !== next.iteration) {
    // To bring two sides together is no attempt at a task.
    if (attempts !== undefined && turns.left-- <= 0) return false
    const tree = loop.tally.tree
    await keeper.change((record) => {
      const iteration = record.iteration + 1
      const counted = withTask({ ...record, iteration }, task, {
        status: 'in_progress',
        ...(attempts === undefined ? {} : { attempts }),
      })
      const turn = { n: next.iteration, iteration, ...(tree === undefined ? {} : { tree }) }
      const trees = tree === undefined || open.worktree ? record.trees : { [task]: tree, ...record.trees }
      return replaceOpen({ ...counted, trees }, { ...open, turn })
    })
  }
  await keeper.restore()
  if (folder.folder !== site.project.folder) await keeper.restore(folder)
  removeFace(folder, 'done.md')
  return true
}

/** What the agent wrote into the project's files is its claim; where it rewrote history, its turn is taken back. */
export async function judgeTurn(
  site: Site,
  task: string,
  { next, turn, tree, folder }: Omit<Turning, 'loop'> & { turn: Turn; tree: Tree },
): Promise<Turn> {
  const edits = readEdits(site.keeper.record, facesIn(folder), { task, shared: folder.folder === site.project.folder })
  removeFace(folder, 'done.md')
  const kept = await keepHistory(site, task, { next, tree, worked: true })
  if (kept !== true) return { ...turn, refused: true, ...kept }
  const { ask: _, ...rest } = turn
  if (edits.says === 'blocked') {
    const words = edits.obstacles.at(-1)?.message ?? edits.entry?.summary ?? 'the agent does not say why'
    return { ...rest, claim: { kind: 'none' }, ask: { kind: 'person', words: `${task} is blocked: ${words}` } }
  }
  if (edits.says !== 'completed') return { ...turn, claim: { kind: 'none' } }
  return { ...rest, claim: { kind: 'clear', stage: task } }
}

function facesIn(folder: { folder: string }): Partial<Record<FaceName, string | undefined>> {
  clearWay(folder)
  const names = ['spec.md', 'tasks.json', 'state.json', 'obstacles.json'] as const
  return Object.fromEntries(names.map((name) => [name, readFace(folder, name)]))
}

/** True: all is well. Otherwise what the turn left, after it was taken back. */
export async function keepHistory(
  site: Site,
  task: string,
  { next, tree, worked }: { next: TurnNext; tree: Tree; worked: boolean },
): Promise<true | Pick<Turn, 'tree'>> {
  const { base, branch, worktree, sound = 0 } = openOf(site.keeper.record, task)
  if (base === undefined || 'none' in tree.checkpoints) return true
  const { repo } = tree.checkpoints
  if (!(await repo.ask(['rev-parse', '--git-dir'])).ok)
    throw new RalphError(
      'git-failed',
      worktree
        ? `its work tree ${worktree.path} was removed during the turn. The next start makes it again.`
        : `${repo.gitDir} was removed during the turn. Bring it back, then go on.`,
    )
  const mine = worktree?.branch ?? branch
  const note = (text: string) => {
    site.note(task, text)
    return site.keeper.changeOpen(task, (open) => ({ ...open, notes: [...open.notes, text] }))
  }
  const [{ branch: here }, kept] = await Promise.all([readHead(repo), holdsHistory(repo, base)])
  const astray = mine !== undefined && here !== mine
  if (kept && astray && (await bringBack(repo, mine))) {
    await note(`The agent left the branch ${mine}; ralph brought its commits back there. Stay on the branch.`)
    await tree.look()
    if (worked) await tree.checkpoints.keep(next.iteration)
  } else if (!kept || astray) {
    await rollBack(tree.checkpoints.restoring, sound)
    await note('The agent rewrote commits that were there before its task; ralph took its turn back. Only add commits.')
    const state = await tree.look()
    return state === undefined ? {} : { tree: state }
  }
  if (worked) await site.keeper.changeOpen(task, (open) => ({ ...open, sound: next.iteration }))
  return true
}

/**
 * Enters a turn that was taken and judged into the project's files, once. `done`: the task is completed by it, which a loop
 * alone does not tell: its work must have arrived on the branch, too.
 */
export async function enterTurn(site: Site, loop: Loop, done = false): Promise<void> {
  const { keeper, project } = site
  const at = projectOf(loop)
  const { dir } = loop.spec.work
  const open = openOf(keeper.record, at.task)
  if (!open.turn && done) return keeper.change((record) => arrivedLater(record, at.task))
  const isJudged = loop.next.kind !== 'check' && loop.next.kind !== 'prove'
  if (!open.turn || open.turn.n > loop.tally.iteration || !isJudged) return
  const edits = masked(readEdits(keeper.record, facesIn(at), { task: at.task, shared: at.folder === project.folder }))
  for (const name of edits.broken) if (at.folder === project.folder) setAside(site, name)
  for (const text of edits.notes) site.note(at.task, text)
  const files = await filesOf(open.turn.tree, loop.tally.tree, dir, edits)
  await keeper.change((record) => entered(record, { open, loop, edits, files, done }))
  await keeper.restore()
  site.hold()
}

/** What an agent writes about its work. The tasks are the person's. */
function masked({ entry, obstacles, notes, ...edits }: Edits): Edits {
  return { ...edits, obstacles: maskIn(obstacles), notes: maskIn(notes), ...(entry ? { entry: maskIn(entry) } : {}) }
}

/** Its last turn was entered before, as one that was not enough yet: now its work has arrived all the same. */
function arrivedLater(record: ProjectRecord, task: string): ProjectRecord {
  const last = record.entries.findLast(({ task_id }) => task_id === task)
  const entries = last ? [...record.entries, { ...last, status: 'completed' as const }] : record.entries
  return withTask({ ...record, entries }, task, { status: 'completed', blocked: false })
}

function setAside({ project, now, note }: Site, name: FaceName): void {
  const text = readFace(project, name)
  if (text === undefined) return
  const kept = brokenName(name, now())
  writeFace(project, kept, text)
  note('', `${name} as the agent left it is kept as ${kept}.`)
}

/** Measured where git can tell, else in the agent's words. */
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
  const { task, turn } = open
  if (!turn) return record
  const { record: taken, ids } = applyEdits(
    record,
    { ...edits, notes: [...open.notes, ...edits.notes] },
    { task, iteration: turn.iteration },
  )
  const blocked = loop.next.kind === 'wait' && loop.next.why === 'person' && edits.says === 'blocked'
  const named = (edits.entry?.obstacles ?? []).map((id) => ids.get(id) ?? id)
  const mine = taken.obstacles.filter(({ iteration, task_id }) => iteration === turn.iteration && task_id === task)
  const entry = {
    ...edits.entry,
    iteration: turn.iteration,
    task_id: task,
    status: done ? ('completed' as const) : ('attempted' as const),
    summary: edits.entry?.summary || firstLine(loop.tally.words) || 'The agent left no summary.',
    files_modified: files,
    obstacles: [...new Set([...named, ...mine.map(({ id }) => id)])],
  }
  const { turn: _, ...rest } = open
  return withTask(replaceOpen({ ...taken, entries: [...taken.entries, entry] }, { ...rest, notes: [] }), task, {
    status: done ? 'completed' : blocked ? 'blocked' : loop.next.kind === 'halt' ? 'pending' : 'in_progress',
    blocked,
  })
}

function firstLine(words: string): string {
  return (words.trim().split('\n')[0] ?? '').slice(0, 300)
}
