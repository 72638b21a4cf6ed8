/** A person allows changes to tests or configuration that a loop waits for. */
import { posix, resolve } from 'node:path'
import { ALLOW, ended, type Loop } from '../engine/loop.ts'
import { touchedPaths } from '../engine/trials.ts'
import { RalphError } from '../error.ts'
import { repositoryAt } from '../host/branch.ts'
import { realFolder } from '../host/files.ts'
import { sessionOf } from '../session/armed.ts'
import { holderOf } from '../session/elsewhere.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { findLoop } from './find-loop.ts'
import { giveOrder } from './give-order.ts'
import { type Context, handOver, type Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { standingOf } from './standing.ts'
import type { Steered } from './steer.ts'

/** `paths`: what is allowed. `heard`: as for `steer`. */
export type Allowed = Steered & { paths: string[] }

export const allow: Operation<{ loop: string; paths?: string[] }, Allowed> = {
  name: 'allow',
  effect: 'write',
  person: true,
  summary:
    'Allows the changes to tests or configuration that a loop asks you to allow: all of them, or those you name.',
  async run(context, { loop: name, paths: given = [] }) {
    await refuseBelowTurn(context)
    const store = context.store()
    const id = await findLoop(context, name)
    const loop = mustWait(await store.load(id))
    const paths = await pathsMeant(context, loop, given)
    const order = { kind: 'allow', paths } as const
    const driven = await store.isDriven(id)
    const rules = ownerOf(loop)
    const how = driven ? undefined : rules.receivesLater?.(loop)
    if (how !== undefined) {
      await store.tell(id, 'you', order)
      return { loop: id, paths, heard: 'later', how }
    }
    const isElsewhere = sessionOf(context.home, id) !== undefined || rules.takesTurns?.(loop) === false
    if (!driven && !isElsewhere) {
      await store.tell(id, 'you', order)
      return { ...(await handOver(context, loop)), paths }
    }
    // A loop whose turns are taken elsewhere gets only its checks from here, no agent.
    const { heard } = await giveOrder(context, id, order, { checks: isElsewhere })
    const session = holderOf(context.home, id)
    if (session === undefined || heard !== 'here' || (await store.load(id)).next.kind !== 'turn')
      return { loop: id, paths, heard }
    return { loop: id, paths, heard: 'session', session }
  },
}

function mustWait(loop: Loop): Loop {
  const { id, next } = loop
  if (next.kind === 'wait' && next.why === 'person' && next.about === ALLOW) return loop
  const { sentence, hint } = standingOf(loop)
  if (ended(loop))
    throw new RalphError(
      'loop-state',
      `Loop ${id} has ended, so there is nothing to allow: ${sentence} ${ownerOf(loop).again(loop)}`,
    )
  throw new RalphError(
    'loop-state',
    `Loop ${id} is not waiting for permission to change tests or configuration: ${sentence} ${hint}`,
  )
}

/** As the loop names them, or relative to the current folder. None: all it waits for. */
async function pathsMeant(
  { cwd }: Pick<Context, 'cwd'>,
  { id, spec, tally }: Loop,
  given: readonly string[],
): Promise<string[]> {
  const open = touchedPaths(tally)
  if (given.length === 0) return open
  const here = realFolder(cwd)
  const roots = await rootsOf(spec.work)
  const meant = given.map((text) => {
    const plain = posix.normalize(text)
    const found =
      open.find((path) => path === text || path === plain) ??
      open.find((path) => roots.some((root) => resolve(root, path) === resolve(here, text)))
    if (found !== undefined) return found
    throw new RalphError(
      'usage',
      `"${text}" is not one of the changes that loop ${id} is waiting for: ${open.join(', ')}. Name one of them, or none to allow all.`,
    )
  })
  return [...new Set(meant)]
}

/** The folder that paths of a loop are relative to. Work in a linked worktree may also be named relative to the user's folder. */
async function rootsOf({ dir, worktree }: Loop['spec']['work']): Promise<string[]> {
  const folders = [dir, ...(worktree ? [worktree.from] : [])]
  const repositories = await Promise.all(folders.map((folder) => repositoryAt(folder)))
  return [...repositories.flatMap((repo) => (repo ? [repo.top] : [])), ...folders]
}
