/** What the iterations of a loop changed: from its repository if it is on this machine, otherwise from the database. */
import { homeFolder } from '../engine/home-folder.ts'
import type { Loop } from '../engine/loop.ts'
import { fileIn } from '../formats/cut-diff.ts'
import { listCommits, printDiff, readCheckpoint, refOf } from '../host/checkpoint.ts'
import { openRepository, type Repository } from '../host/git.ts'
import type { Against, DiffRecords, KeptState, Store } from '../host/store.ts'

export type Changes = {
  /** The known commits of these iterations. */
  commits(numbers: readonly number[]): Promise<ReadonlyMap<number, string>>
  /** The commit checked out at the end of an iteration. */
  head(iteration: number): Promise<string | undefined>
  /** Undefined if nothing is known. `path`: only this file. */
  diff(iteration: number, against: Against, path?: string): Promise<ChangedText | undefined>
  /** The commit that contains exactly the files of `tree`, if there is one. `head`: the commit checked out then. */
  holder(tree: string, head: string): Promise<string | undefined>
}

/** `left`: how many lines are not available. */
export type ChangedText = { from: string; to: string; text: string; left: number }

export async function changesOf({ diffs }: Pick<Store, 'diffs'>, loop: Loop): Promise<Changes> {
  const isElsewhere = loop.spec.work.owner?.kind === 'fleet'
  const states = diffs && isElsewhere ? await diffs.states(loop.id) : []
  if (diffs && states.length > 0) return keptChanges(diffs, loop.id, states)
  const repo = await openRepository(homeFolder(loop))
  return 'none' in repo ? NOTHING : changesIn(repo, loop.id)
}

const NOTHING: Changes = {
  commits: async () => new Map(),
  head: async () => undefined,
  diff: async () => undefined,
  holder: async () => undefined,
}

function changesIn(repo: Repository, loop: string): Changes {
  const checkpoint = (n: number) => readCheckpoint(repo, refOf(loop, n))
  return {
    commits: (numbers) => listCommits(repo, loop, numbers),
    head: async (iteration) => (await checkpoint(iteration))?.head,
    async diff(iteration, against, path) {
      const kept = await checkpoint(iteration)
      const from = against === 'start' ? (await checkpoint(0))?.commit : kept?.since
      if (!kept || from === undefined) return undefined
      const text = await printDiff(repo, { from, to: kept.commit, path })
      return text === undefined ? undefined : { from, to: kept.commit, text, left: 0 }
    },
    async holder(tree, head) {
      const answer = await repo.ask(['rev-parse', '--verify', '--quiet', `${head}^{tree}`])
      return answer.ok && answer.out === tree ? head : undefined
    },
  }
}

/** The commits are the pushed ones: checkpoints are deleted when a task ends. */
function keptChanges(diffs: DiffRecords, loop: string, states: readonly KeptState[]): Changes {
  const stateAfter = (iteration: number) => states.find((state) => state.iteration === iteration)
  return {
    commits: async (numbers) =>
      new Map(numbers.flatMap((n) => stateAfter(n) ?? []).map(({ iteration, commit }) => [iteration, commit])),
    head: async (iteration) => stateAfter(iteration)?.head,
    async diff(iteration, against, path) {
      const [kept, to] = [await diffs.load(loop, iteration, against), stateAfter(iteration)?.commit]
      if (!kept || to === undefined) return undefined
      return { ...kept, to, text: path === undefined ? kept.text : fileIn(kept.text, path) }
    },
    holder: async (tree) => states.findLast((state) => state.tree === tree)?.commit,
  }
}
