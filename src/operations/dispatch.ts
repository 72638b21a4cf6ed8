/** Runs the agents of a config file in panes on this machine, until it is stopped. */
import { join } from 'node:path'
import { parseAgent } from '../agents/index.ts'
import type { CrewAgent } from '../dispatch/crew.ts'
import { dispatch as run } from '../dispatch/dispatcher.ts'
import type { Pane } from '../dispatch/pane.ts'
import { openPurse } from '../dispatch/purse.ts'
import { removeLeftPlaces } from '../drive/left-places.ts'
import { RalphError } from '../error.ts'
import { lockLoop } from '../host/lock.ts'
import { openTmux } from '../host/tmux.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import { type Listed, toListed } from './agents.ts'
import { lockOf, readCrew } from './crew-place.ts'
import { type Context, selfIn } from './operation.ts'
import { makeLoop } from './start-loop.ts'

/** Callbacks, and a signal to stop. */
export type Dispatching = {
  /** Called when it has started, with what it found. */
  begin(agents: readonly CrewAgent[], config: string): void
  /** The state of an agent has changed. `webhook`: from its config. */
  changed(agent: Listed, webhook: string | undefined): void
  note(agent: string | undefined, text: string): void
  stop: AbortSignal
}

export async function runDispatcher(context: Context, config: string, listener: Dispatching): Promise<void> {
  const { home, env, now, root } = context
  const { id, config: path, agents, settings } = await readCrew(context, config)
  const tmux = openTmux(home, env)
  await tmux.look() // fails if tmux is not installed
  const store = context.store()
  const lock = lockLoop(home, lockOf(id))
  if (!lock)
    throw new RalphError(
      'dispatch-held',
      `A dispatcher for ${path} is already running. Talk to it from here: ralph dispatch status`,
    )
  try {
    await store.panes.prune(now() - DEFAULTS.keepDays * 24 * 3_600_000)
    await removeLeftPlaces(home)
    listener.begin(agents, path)
    const { max_total_cost_usd: most } = settings
    for (const { name } of agents.filter((agent) => isUncounted(agent, most)))
      listener.note(name, 'does not report its cost in a pane, so cost limits do not apply.')
    const changed = async ({ key, record }: Pane) => {
      listener.changed(await toListed(context, { ...key, record }), record.agent.config.notify_webhook)
    }
    await run(
      {
        store,
        home,
        env,
        now,
        tmux,
        plugins: join(root, 'plugins'),
        self: selfIn(root),
        hook: [process.execPath, join(root, 'dist', 'pane-hook.cjs')],
        make: (agent, prompt) => {
          const note = (text: string) => listener.note(agent.name, text)
          return makeLoop({ ...context, note }, requestOf(agent, prompt), {
            dir: agent.dir,
            config: agent.config,
            worktree: agent.worktree,
            owner: { kind: 'pane', crew: id, name: agent.name, config: path } as { kind: 'pane' },
          })
        },
        ...(most === undefined ? {} : { purse: openPurse(most) }),
        note: (agent, text) => listener.note(agent.name, text),
        stop: listener.stop,
      },
      { id, config: path, agents },
      { changed: (pane) => void changed(pane).catch(() => {}) },
    )
  } finally {
    lock.close()
  }
}

function isUncounted({ agent, config }: CrewAgent, most: number | undefined): boolean {
  return (most ?? config.max_cost_usd) !== undefined && !parseAgent(agent).agent.reportsCost
}

function requestOf(
  { agent, model, permissions, args, checks }: CrewAgent,
  prompt: string,
): Parameters<typeof makeLoop>[1] {
  return {
    prompt,
    agents: [agent],
    agentArgs: args,
    permissions,
    context: 'same',
    ...(checks.length > 0 ? { checks } : {}),
    ...given({ model }),
  }
}
