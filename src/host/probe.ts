/**
 * Whether an agent is installed on this machine: looks for its login and asks for its version, without calling a model.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import type { Probe } from '../agents/agent.ts'
import { findProgram, runProgram } from './process.ts'

export type FoundAgent = { path: string; login: 'yes' | 'no' | 'unknown' }

export type Where = { dir: string; env: Readonly<Record<string, string | undefined>> }

/** Starts no program. */
export function findAgent({ programs, login }: Probe, { dir, env }: Where): FoundAgent | undefined {
  const path = programs.map((program) => findProgram(program, dir, env.PATH)).find((found) => found !== undefined)
  if (path === undefined) return undefined
  const home = env.HOME ?? homedir()
  const isThere = (file: string) => existsSync(file.replace(/^~/, home))
  if (login.variables.some((name) => env[name]) || login.files.some(isThere)) return { path, login: 'yes' }
  return { path, login: login.folder !== undefined && !isThere(login.folder) ? 'no' : 'unknown' }
}

export async function askVersion(
  { versionArgs }: Probe,
  path: string,
  { dir, env }: Where,
): Promise<string | undefined> {
  let output = ''
  const onPiece = (text: string) => {
    output += text.slice(0, 1_000)
  }
  await runProgram({ argv: [path, ...versionArgs], dir, env, stdin: '', graceMs: 500, deadlineMs: 15_000, onPiece })
  return /\d+\.\d+(\.\d+)?(-[\w.]*\w)?/.exec(output)?.[0]
}
