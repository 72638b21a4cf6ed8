/** Is an agent on this machine? Its version is asked for, its login is looked for; no model is called. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Probe } from '../agents/agent.ts'
import { findProgram, runProgram } from './process.ts'

export type Probed = { path: string; version: string; login: 'yes' | 'unknown' }

export async function probeAgent(
  { programs, versionArgs, login }: Probe,
  { dir, env }: { dir: string; env: Readonly<Record<string, string | undefined>> },
): Promise<Probed | undefined> {
  const path = programs.map((program) => findProgram(program, dir, env.PATH)).find((found) => found !== undefined)
  if (path === undefined) return undefined
  let output = ''
  const onPiece = (text: string) => {
    output += text.slice(0, 1_000)
  }
  await runProgram({ argv: [path, ...versionArgs], dir, env, stdin: '', graceMs: 500, deadlineMs: 15_000, onPiece })
  const home = env.HOME ?? homedir()
  const known =
    login.variables.some((name) => env[name]) || login.files.some((file) => existsSync(file.replace(/^~/, home)))
  return { path, version: output.trim().split('\n')[0] || 'version not known', login: known ? 'yes' : 'unknown' }
}
