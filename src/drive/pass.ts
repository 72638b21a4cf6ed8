/**
 * The pass of a turn: with it, the agent can report through MCP while the loop is at this turn, and do nothing else.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command, Request } from '../agents/agent.ts'
import type { Loop } from '../engine/loop.ts'
import { applyReports } from '../engine/report.ts'
import { openStages } from '../engine/stages.ts'
import { makePrivateFolder } from '../host/files.ts'
import type { TurnNext } from './drive.ts'
import type { Workbench } from './hands.ts'
import type { Judge } from './turn-ended.ts'

/** How the agent starts its MCP server. The store only knows the hash of the token. */
export async function issuePass(
  { store, home, self, env }: Workbench,
  { id }: Loop,
  { iteration, attempt }: TurnNext,
): Promise<NonNullable<Request['mcp']>> {
  const token = `ralph_${randomBytes(32).toString('base64url')}` // masked wherever it is printed
  await store.reports.issue({ loop: id, iteration, attempt }, hashOf(token))
  return {
    command: [...self('ralph'), 'mcp', '--loop'],
    env: { RALPH_HOME: home, RALPH_MCP_TOKEN: token },
    // Below RALPH_HOME, since some agents refuse to read a file in a folder that others can write to.
    file: (name) => join(home, 'turns', `${id}-${name}`),
    variable: (name) => env[name],
    machineFile: (variable, paths) => firstText([env[variable] ?? [], ...paths].flat()),
  }
}

/** Writes the agent's files, with the token of this turn. Returns how to remove them. */
export function writePrivately(files: NonNullable<Command['files']>): () => void {
  for (const { path, text } of files) {
    makePrivateFolder(dirname(path))
    writeFileSync(path, text, { mode: 0o600 })
  }
  return () => {
    for (const { path } of files) rmSync(path, { force: true })
  }
}

function firstText(paths: readonly string[]): string | undefined {
  const path = paths.find((one) => existsSync(one))
  return path === undefined ? undefined : readFileSync(path, 'utf8')
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Reports count in a turn that ends well, before its owner judges it. */
export async function judgeWithReports(
  { store, task }: Workbench,
  { id }: Loop,
  { iteration, attempt }: TurnNext,
): Promise<Judge> {
  const reports = await store.reports.of({ loop: id, iteration, attempt })
  return (loop, turn) => {
    const open = openStages(loop.spec, loop.tally).map(({ name }) => name)
    const heard = applyReports(turn, reports, open)
    return task?.judge?.(loop, heard) ?? heard
  }
}
