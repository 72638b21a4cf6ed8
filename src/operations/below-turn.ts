/** Refuses agents what only a person may do. */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Ancestor, ancestors, inherited, valuesIn } from '../host/ancestors.ts'
import { armedBy } from '../session/armed.ts'
import type { Context } from './operation.ts'

/**
 * An agent must not excuse itself by changing its own environment: the environment of its parent processes counts.
 * Loops of another home do not count, so that an agent can try out ralph.
 */
export async function refuseBelowTurn(context: Context): Promise<void> {
  const above = [...ancestors(), ...ancestorsOfCaller(context)]
  refuseInPane(context, above)
  const { RALPH_LOOP_ID: own } = context.env
  for (const id of new Set([...(own ? [own] : []), ...inherited('RALPH_LOOP_ID', above)]))
    if (await loadKnown(context, id)) throw refusal(id)
  for (const id of armedBy(context.home, new Set(above.map(({ pid }) => pid)))) {
    const loop = await loadKnown(context, id)
    if (loop && !ended(loop)) throw refusal(id)
  }
}

/** A request through a server comes from another process, which that server has identified. */
function ancestorsOfCaller({ caller }: Context): Ancestor[] {
  const pid = caller?.()
  if (pid === 'gone')
    throw new RalphError(
      'below-turn',
      'Only a person can do this, and the calling process has exited, so it cannot be identified. Keep the connection open until the answer arrives.',
    )
  return pid === undefined ? [] : ancestors(pid)
}

/** An agent in a pane outlives its loops, so its environment names the pane and its home instead. */
function refuseInPane({ env, home }: Context, above: readonly Ancestor[]): void {
  const own = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  const homes = new Map<string, string[]>()
  // The outermost comes last and wins: below it, an agent may have set another home.
  for (const environment of [own, ...above.map((one) => one.environment)])
    for (const pane of valuesIn(environment, 'RALPH_PANE'))
      homes.set(pane, valuesIn(environment, 'RALPH_HOME').filter(Boolean))
  for (const [pane, its] of homes)
    if (its.length === 0 || its.some((one) => realPath(one) === realPath(home)))
      throw new RalphError(
        'below-turn',
        `The agent in pane ${pane.slice(pane.indexOf('/') + 1)} cannot do this: a person must do it from their own terminal.`,
      )
}

/** A symlink to the home is the same home. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path) // it does not exist yet
  }
}

function refusal(id: string): RalphError {
  return new RalphError(
    'below-turn',
    `The agent inside loop ${id} cannot do this: a person must do it from their own terminal.`,
  )
}

async function loadKnown({ store }: Pick<Context, 'store'>, id: string): Promise<Loop | undefined> {
  try {
    return await store().load(id)
  } catch (cause) {
    if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined
    throw cause
  }
}
