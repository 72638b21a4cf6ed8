/** Which agents belong to a crew when its dispatcher starts, and what is known about each. */
import { type Loop, OPEN, statusOf } from '../engine/loop.ts'
import type { StoredMail } from '../host/store.ts'
import { type CrewAgent, type PaneRecord, recordIn, tagOf } from './crew.ts'
import { paneOf } from './owner.ts'
import type { Site } from './site.ts'

export type Crew = { id: string; config: string; agents: readonly CrewAgent[] }

/** The agents of the config, and those added since or still busy. */
export async function roll({ store, note, tmux }: Site, crew: Crew): Promise<[CrewAgent, PaneRecord | undefined][]> {
  const known = new Map((await store.panes.list(crew.id)).map((row) => [row.name, recordIn(row)]))
  const named = new Set(crew.agents.map(({ name }) => name))
  const waiting = new Set((await store.panes.mail(crew.id)).filter(isTask).map(({ name }) => name))
  const others: [CrewAgent, PaneRecord][] = []
  for (const [name, record] of known) {
    if (named.has(name)) continue
    if (record.agent.added || (await isOpen(store, record.loop)) || waiting.has(name)) {
      if (!record.agent.added) note(record.agent, 'it is no longer in the config; it stays until its task has ended.')
      others.push([{ ...record.agent, number: crew.agents.length + others.length + 1 }, record])
    } else {
      await tmux.close(tagOf({ crew: crew.id, name }))
      await store.panes.forget({ crew: crew.id, name })
    }
  }
  for (const agent of crew.agents) {
    const before = known.get(agent.name)
    if (before && isOpenOtherwise(before, agent))
      note(agent, 'its model, args or permissions have changed in the config; close its pane to restart it with them.')
  }
  const open = known.size > 0 ? new Map<string, string>() : await openLoops(store, crew.id)
  const mine = crew.agents.map((agent): [CrewAgent, PaneRecord | undefined] => {
    const loop = open.get(agent.name)
    return [agent, loop === undefined ? known.get(agent.name) : { ...newRecord(crew, agent), loop }]
  })
  return [...mine, ...others]
}

/** By agent name: after a lost database was rebuilt, only the loops themselves know whose they are. */
async function openLoops(store: Site['store'], crew: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { id } of (await store.list({ owner: 'pane', status: OPEN, limit: 1_000 })).rows.toReversed()) {
    const owner = paneOf(await store.load(id))
    if (owner.crew === crew) found.set(owner.name, id)
  }
  return found
}

/** Whether its program runs with settings that the config no longer has. */
function isOpenOtherwise({ agent: was, facts }: PaneRecord, agent: CrewAgent): boolean {
  const settings = ({ model, args, permissions }: CrewAgent) => JSON.stringify([model, args, permissions])
  return facts.up === true && was.agent === agent.agent && settings(was) !== settings(agent)
}

/** As it was left, so that no message is repeated. */
export async function lastLoop(store: Site['store'], { loop, last }: PaneRecord): Promise<Loop | undefined> {
  const id = loop ?? last
  return id === undefined ? undefined : store.load(id)
}

async function isOpen(store: Site['store'], id: string | undefined): Promise<boolean> {
  const loop: Loop | undefined = id === undefined ? undefined : await store.load(id)
  return loop !== undefined && !['completed', 'halted', 'cancelled'].includes(statusOf(loop))
}

export function renewed(crew: Crew, agent: CrewAgent, known: PaneRecord | undefined): PaneRecord {
  if (!known) return newRecord(crew, agent)
  const { setUp, ...rest } = known
  const { failed: _, ...facts } = known.facts
  const { launch } = facts
  // What is known about another program does not apply to this one, and another folder is not prepared.
  const other = known.agent.agent !== agent.agent
  return {
    ...rest,
    agent,
    config: crew.config,
    facts: !other ? facts : launch === undefined ? {} : { launch },
    ...(setUp === undefined || known.agent.dir !== agent.dir ? {} : { setUp }),
  }
}

function newRecord({ config }: Crew, agent: CrewAgent): PaneRecord {
  return { agent, config, facts: {}, state: 'READY', since: 0, words: '', restarts: 0 }
}

export function isTask({ mail }: StoredMail): boolean {
  return mail.kind === 'task'
}
