/** Drives a loop in this terminal: shows it, obeys Ctrl-C, tells when it is over. Used by run, resume and steer. */
import { setFlagsFromString } from 'node:v8'
import { drive, type Hands } from '../../drive/drive.ts'
import { runHands, type Workbench } from '../../drive/hands.ts'
import { checkpointsOf } from '../../drive/rollback.ts'
import { takeUp } from '../../drive/take-turn.ts'
import type { Fact, Loop, Next } from '../../engine/loop.ts'
import { allChecks } from '../../engine/stages.ts'
import { step } from '../../engine/step.ts'
import { RalphError } from '../../error.ts'
import { canStart, findChecks } from '../../host/check.ts'
import { reap } from '../../host/process-tree.ts'
import { openTree } from '../../host/tree.ts'
import { restFacts } from '../../vault/moving.ts'
import { movedBefore, turnOf } from '../../vault/work.ts'
import { type Context, selfIn } from './context.ts'
import { notify } from './notify.ts'
import { keepVaultTrue } from './vault-place.ts'
import { openJsonView, openView, type View } from './view.ts'

/** `why`: how the agent was chosen, where nobody named one. */
export type Driving = { json: boolean; notify: boolean; webhook?: string; why?: string }

/** Returns the exit code. `order` is what a person wants before it goes on. */
export async function driveHere(
  context: Context,
  id: string,
  how: Driving,
  order?: Extract<Fact, { kind: 'told' }>['order'],
): Promise<number> {
  // What an agent prints is garbage at once. V8 would let its young generation grow to 130 MB for a flood of it.
  setFlagsFromString('--semi-space-growth-factor=1')
  const store = context.store()
  const lease = await store.lease(id)
  if ('heldBy' in lease)
    throw new RalphError(
      'loop-held',
      `Loop ${id} is already being driven by ${lease.heldBy}. Watch it with \`ralph show ${id} --follow\`.`,
    )
  const stop = new AbortController()
  const view = how.json ? openJsonView(context.out) : openView(context.out, context.now)
  const release = onInterrupt(view, id, {
    pause: () => store.tell(id, 'Ctrl-C', { kind: 'pause' }),
    stop: () => stop.abort(),
  })
  let ended: Loop
  try {
    let loop = await store.load(id)
    const { vault } = loop.spec.work
    for (const fact of restFacts(loop, lease.movedAt, context.now())) {
      loop = step(loop, fact)
      await store.save(lease, loop, fact)
    }
    if (lease.epoch > 1) await reap(id) // also a git whose ralph was killed
    if (loop.spec.work.worktree) await checkpointsOf(context, loop) // made again, should somebody have removed it
    const tree = await openTree({ ...loop.spec.work, home: context.home, loop: id })
    const bench: Workbench = {
      store,
      tree,
      env: context.env,
      now: context.now,
      stop: stop.signal,
      self: selfIn(context.root),
      show: view.show,
      ...(vault ? { task: turnOf(vault) } : {}),
    }
    view.begin(loop, { suggestion: findChecks(loop.spec.work.dir)[0], checkpoints: tree.checkpoints })
    if (how.why !== undefined) view.say(how.why)
    for (const check of allChecks(loop.spec).filter((text) => !canStart(text, loop.spec.work.dir, context.env.PATH)))
      view.say(`The program of the check "${check}" is not here yet. Without it the loop will halt (verifier-broken).`)
    if (order) await store.tell(id, 'you', order)
    const hands = runHands(bench, view.saw)
    // A person may have moved the file of a vault's task meanwhile.
    const turn: Hands['turn'] = async (current, next) =>
      movedBefore(current, context.now()) ?? hands.turn?.(current, next)
    ended = await drive(await takeUp(loop, lease, bench), lease, store, vault ? { ...hands, turn } : hands)
  } finally {
    release()
    await lease.release()
  }
  const over = await keepVaultTrue(context, ended)
  view.end(over)
  if (how.notify) await notify(over, { context, ...(how.webhook === undefined ? {} : { webhook: how.webhook }) })
  return exitCode(over.next)
}

/** The first Ctrl-C pauses after this iteration, the second ends the agent now. A closed terminal ends it now, too. */
function onInterrupt(view: View, id: string, act: { pause(): Promise<void>; stop(): void }): () => void {
  let told: Promise<void> | undefined
  const pause = () => (told ??= act.pause())
  const stopNow = () => void pause().then(act.stop, act.stop)
  const interrupt = () => {
    if (told !== undefined) return stopNow()
    void pause()
    view.say(`Pausing after this iteration. Press Ctrl-C again to stop at once. Go on later with: ralph resume ${id}`)
  }
  process.on('SIGINT', interrupt).on('SIGTERM', stopNow).on('SIGHUP', stopNow)
  return () => {
    process.off('SIGINT', interrupt).off('SIGTERM', stopNow).off('SIGHUP', stopNow)
  }
}

function exitCode(next: Next): number {
  switch (next.kind) {
    case 'complete':
      return 0
    case 'halt':
      return next.reason === 'cancelled' ? 130 : next.reason === 'agent-unusable' ? 3 : 1
    case 'wait':
      return next.why === 'person' ? 4 : 130
    case 'turn':
    case 'check':
    case 'restore':
      return 130
  }
}
