/** Brings the work of a task to this worker and back: by git, or in an empty folder if it has no repository. */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ended, type Fact, type Loop, startLoop } from '../engine/loop.ts'
import type { Asked } from '../fleet/submit.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import { loadConfig } from '../host/config.ts'
import { realFolder } from '../host/files.ts'
import { bringSecrets } from '../host/fleet-secrets.ts'
import type { Lease } from '../host/store.ts'
import { given } from '../request/given.ts'
import { resolveSpec } from '../request/resolve.ts'
import { withSandbox } from '../request/sandbox.ts'
import { chooseAgents, mustSuit } from './choose-agents.ts'
import { isUnstarted } from './drive-loop.ts'
import type { Desk } from './fleet-desk.ts'
import { gitCarrier } from './fleet-git.ts'
import { agentsHere } from './fleet-seats.ts'

export type Carrier = {
  /** The facts that bring a loop here: its starting point, or its move. */
  arrive(task: FleetTask, loop: Loop, arriving: { lease: Lease; at: number }): Promise<Fact[]>
  /** Publishes the work of a turn for other workers, before the turn is saved. */
  carry(task: FleetTask, loop: Loop, carrying: { fact: Fact; lease: Lease }): Promise<Fact>
  /** Its loop has ended: removes everything here. */
  leave(task: FleetTask, loop: Loop): Promise<void>
  /** Another worker has it: removes everything here, and touches nothing elsewhere. */
  abandon(task: FleetTask): Promise<void>
  /** Removes what earlier workers left on this machine. */
  sweep(): Promise<void>
}

export function openCarrier(desk: Desk): Carrier {
  const { context, store } = desk
  const git = gitCarrier(desk)
  const isQueued = ({ next }: Loop) => next.kind === 'wait' && next.why === 'queued'
  return {
    async arrive(task, loop, { lease, at }) {
      const asked = (await store.fleet.asked(task.id)) as Asked // stored in this form when it was submitted
      await bringSecrets(context.home, store.fleet, [loop, asked])
      if (ended(loop)) {
        if (task.repo !== null) await git.takeHold(task, loop, lease)
        return []
      }
      if (isUnstarted(loop)) return []
      if (!isQueued(loop))
        return task.repo === null ? inEmptyFolder(context, loop, at) : git.takeOver(task, loop, lease, at)
      const place = task.repo === null ? emptyFolder(context.home, loop.id) : await git.begin(task, loop, lease)
      const spec = await specHere(desk, task, { ...asked, ...place, ...given({ owner: loop.spec.work.owner }) })
      const agents = task.agents.includes('auto') ? [...(spec.agents ?? [spec.work.agent])] : agentsHere(desk, task)
      if (agents.join() !== task.agents.join()) await store.fleet.change(task.id, { agents })
      const { tree } = place
      const { id: _, ...begun } = startLoop(loop.id, spec, { at, ...given({ tree }) })
      // Messages that arrived meanwhile are for its first turn.
      return [{ kind: 'adopted', at, loop: { ...begun, tally: { ...begun.tally, said: loop.tally.said } } }]
    },

    async carry(task, loop, { fact, lease }) {
      if (task.repo !== null && (fact.kind === 'turned' || fact.kind === 'checked')) await git.push(task, loop, lease)
      return fact
    },

    async abandon(task) {
      if (task.repo === null) rmSync(folderOf(context.home, task.loop_id), { recursive: true, force: true })
      else await git.abandon(task)
    },

    async leave(task, loop) {
      if (task.repo === null) rmSync(folderOf(context.home, loop.id), { recursive: true, force: true })
      else await git.leave(task, loop)
    },

    async sweep() {
      const folder = join(realFolder(context.home), 'empty')
      const left = existsSync(folder) ? readdirSync(folder).filter((loop) => !desk.jobs.has(loop)) : []
      for (const loop of left) rmSync(join(folder, loop), { recursive: true, force: true })
      await git.sweep()
    },
  }
}

export type Place = { work: Partial<Loop['spec']['work']> & { dir: string }; tree?: string }

function folderOf(home: string, loop: string): string {
  return join(realFolder(home), 'empty', loop)
}

function emptyFolder(home: string, loop: string): Place {
  const dir = folderOf(home, loop)
  mkdirSync(dir, { recursive: true })
  return { work: { dir } }
}

/** The files on the previous worker stay there: without a repository nothing is kept. */
function inEmptyFolder({ home }: Desk['context'], loop: Loop, at: number): Fact[] {
  const { work } = emptyFolder(home, loop.id)
  return loop.spec.work.dir === work.dir ? [] : [{ kind: 'moved', at, to: work }]
}

/** The request, resolved with the configuration of the repository and the agents of this worker. */
async function specHere(
  desk: Desk,
  task: FleetTask,
  { work, request, owner }: Place & Asked & Pick<Loop['spec']['work'], 'owner'>,
): Promise<Loop['spec']> {
  const { context, store } = desk
  const config = loadConfig(context.home, work.dir)
  const asked = withSandbox(request, config)
  const named = agentsHere(desk, task).join(',')
  const { agents } = await chooseAgents(context, { dir: work.dir, config, asked: named })
  mustSuit(agents, asked)
  // Reports would have to reach the database, whose password an agent must not see.
  const mcp = false
  const { dir, gitDir, worktree } = work
  const place = { dir, env: {}, config, history: () => store.history(), ...given({ gitDir, worktree, owner }) }
  return resolveSpec({ ...asked, mcp, agents }, place)
}
