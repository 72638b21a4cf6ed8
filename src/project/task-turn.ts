/** One turn at a task: picked up, and judged by what the agent wrote into the project files. */
import type { TurnNext } from '../drive/drive.ts'
import type { Loop, Turn, Verdict } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { bringBack, holdsHistory, readHead } from '../host/branch.ts'
import { rollBack } from '../host/roll-back.ts'
import type { Tree } from '../host/tree.ts'
import type { Edits } from './edits.ts'
import { takeEdits } from './enter-turn.ts'
import { removeFace } from './folder.ts'
import { openOf, replaceOpen, withTask } from './record.ts'
import type { Site } from './site.ts'

/** `folder` is where the agent finds the project files. */
type Turning = { loop: Loop; next: TurnNext; folder: { folder: string } }

/** Picks up the task: assigns a number, counts the attempt, restores the files. False: no turn is left. */
export async function beginTurn(
  site: Site,
  task: string,
  { loop, next, folder, attempts }: Turning & { attempts?: number },
): Promise<boolean> {
  const { keeper, turns } = site
  if (site.rest.aborted || !site.mayTurn()) return false
  // A merge is not an attempt at a task.
  if (attempts !== undefined && turns.left <= 0) return false
  if (attempts !== undefined) turns.left--
  turns.taken++
  const { tree } = loop.tally
  await keeper.change((record) => {
    const open = openOf(record, task)
    // A turn whose ralph was killed before its agent started keeps its number.
    const iteration = open.turn?.iteration ?? record.iteration + 1
    const counted = withTask({ ...record, iteration: Math.max(record.iteration, iteration) }, task, {
      status: 'in_progress',
      ...(attempts === undefined ? {} : { attempts }),
    })
    const { iteration: n, attempt } = next
    const turn = { n, attempt, iteration, ...(tree === undefined ? {} : { tree }) }
    const trees = tree === undefined || open.worktree ? record.trees : { [task]: tree, ...record.trees }
    return replaceOpen({ ...counted, trees }, { ...open, turn })
  })
  await keeper.restore()
  if (folder.folder !== site.project.folder) await keeper.restore(folder)
  removeFace(folder, 'done.md')
  return true
}

/** What the agent wrote into the project files is its claim; if it rewrote history, its turn is undone. */
export async function judgeTurn(
  site: Site,
  task: string,
  { next, turn, tree, folder }: Omit<Turning, 'loop'> & { turn: Turn; tree: Tree },
): Promise<Turn> {
  const edits = await keepEdits(site, task, folder)
  const kept = await keepHistory(site, task, { next, tree, worked: true })
  if (kept !== true) return { ...turn, refused: true, ...kept }
  const { ask: _, ...rest } = turn
  if (edits.says === 'blocked') {
    const words = edits.obstacles.at(-1)?.message ?? edits.entry?.summary ?? 'the agent gave no reason'
    return { ...rest, claim: { kind: 'none' }, ask: { kind: 'person', words: `${task} is blocked: ${words}` } }
  }
  if (edits.says !== 'completed') return { ...turn, claim: { kind: 'none' } }
  return { ...rest, claim: { kind: 'clear', stage: task } }
}

/** Records what the agent left in the files; later changes are the user's. */
async function keepEdits(site: Site, task: string, folder: { folder: string }): Promise<Edits> {
  const { keeper } = site
  const edits = takeEdits(site, { task, ...folder })
  removeFace(folder, 'done.md')
  await keeper.changeTurn(task, (turn) => ({ ...turn, edits }))
  await keeper.restore()
  return edits
}

/** A turn in which the agent did not get to work. */
export async function keepTrouble(
  site: Site,
  task: string,
  { turn: { end, words }, folder }: Pick<Turning, 'folder'> & { turn: Turn },
): Promise<void> {
  await keepEdits(site, task, folder)
  await site.keeper.changeTurn(task, (open) => ({ ...open, trouble: { end, words } }))
}

/** The verdicts on a turn. */
export function keepVerdicts({ keeper }: Site, task: string, verdicts: readonly Verdict[]): Promise<void> {
  const again = new Set(verdicts.map(({ check }) => check))
  return keeper.changeTurn(task, (turn) => ({
    ...turn,
    verdicts: [...(turn.verdicts ?? []).filter(({ check }) => !again.has(check)), ...verdicts],
  }))
}

/** True: all is well. Otherwise what the turn left, after it was undone. */
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
        ? `its worktree ${worktree.path} was removed during the turn. The next start recreates it.`
        : `${repo.gitDir} was removed during the turn. Restore it, then continue.`,
    )
  const mine = worktree?.branch ?? branch
  const note = (text: string) => {
    site.note(task, text)
    return site.keeper.changeOpen(task, (open) => ({ ...open, notes: [...open.notes, text] }))
  }
  const [{ branch: here }, kept] = await Promise.all([readHead(repo), holdsHistory(repo, base)])
  const astray = mine !== undefined && here !== mine
  if (kept && astray && (await bringBack(repo, mine))) {
    await note(`The agent left the branch ${mine}; ralph moved its commits back. Stay on the branch.`)
    await tree.look()
    if (worked) await tree.checkpoints.keep(next.iteration)
  } else if (!kept || astray) {
    await rollBack(tree.checkpoints.restoring, sound)
    await note('The agent rewrote commits from before its task; ralph undid its turn. Only add commits.')
    const state = await tree.look()
    return state === undefined ? {} : { tree: state }
  }
  if (worked) await site.keeper.changeOpen(task, (open) => ({ ...open, sound: next.iteration }))
  return true
}
