/** Agents in panes for tests, as a dispatcher left them. */
import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type CrewAgent, crewOf, type PaneRecord } from '../dispatch/crew.ts'
import { lockLoop } from '../host/lock.ts'
import { lockOf } from './crew-place.ts'
import type { Context } from './operation.ts'

export function crewAgent(name: string, number: number, change: Partial<CrewAgent> = {}): CrewAgent {
  return {
    name,
    number,
    agent: 'scripted:script.json',
    dir: `/home/me/${name}`,
    worktree: false,
    permissions: 'ask',
    args: [],
    checks: [],
    config: {},
    enabled: true,
    ...change,
  }
}

export function paneRecord(agent: CrewAgent, change: Partial<PaneRecord> = {}): PaneRecord {
  return { agent, config: '/c.yaml', facts: {}, state: 'READY', since: 0, words: '', restarts: 0, ...change }
}

/** Writes a config file into the folder and stores these agents for it. */
export async function leaveCrew(
  { store }: Pick<Context, 'store'>,
  dir: string,
  records: readonly PaneRecord[],
): Promise<{ id: string; config: string }> {
  const file = join(dir, 'config.yaml')
  writeFileSync(file, '')
  const config = realpathSync(file)
  const id = crewOf(config)
  for (const record of records) await store().panes.save({ crew: id, name: record.agent.name }, { ...record, config })
  return { id, config }
}

/** As if a dispatcher were running. */
export function holdCrew({ home }: Pick<Context, 'home'>, id: string): void {
  const lock = lockLoop(home, lockOf(id))
  if (!lock) throw new Error(`Another process holds ${id}.`)
  onTestFinished(() => lock.close())
}
