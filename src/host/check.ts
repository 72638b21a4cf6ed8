/** Checks: commands of the user or the repository, never of the agent. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { count } from '../engine/limits.ts'
import type { Verdict } from '../engine/loop.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import { countFailures } from '../formats/failures.ts'
import { findRepoChecks } from '../formats/repo-checks.ts'
import { countTests } from '../formats/test-count.ts'
import { mask } from './mask.ts'
import { findProgram, runProgram } from './process.ts'
import type { Fence } from './sandbox.ts'
import { type Secrets, secretsOf } from './sealed.ts'

export type CheckPlace = {
  dir: string
  env: Readonly<Record<string, string | undefined>>
  minutes: number
  signal: AbortSignal
  /** Runs it in the sandbox. `online`: with network access. */
  fence?: Fence | undefined
  online?: boolean
  /** The home whose secrets replace the marks in it. Absent: there are none. */
  home?: string
}

const OUTPUT_KEPT = 64 * 1024
const TAIL_KEPT = 4_000

/** What the small sh in front of a program prints if it cannot exec it. */
const NOT_STARTED = /^ralph: (line )?\d+: (exec: )?/m

const BARE: Pick<Secrets, 'open' | 'mask'> = { open: (text) => text, mask }

/** Undefined if it was interrupted. */
export async function runCheck(check: string, place: CheckPlace): Promise<Verdict | undefined> {
  const { dir, env, minutes, signal, fence, online = false, home } = place
  const secrets = home === undefined ? BARE : secretsOf(home, check)
  const argv = parseCommandLine(secrets.open(check))
  const [program = ''] = argv
  if (!canStart(check, dir, env.PATH)) return { check, result: 'broken', tail: `"${program}" was not found.` }
  const fenced = await fence?.({ program, dir, env, online })
  let output = ''
  const ended = await runProgram({
    argv: fenced ? [...fenced.argv, ...argv] : argv,
    dir,
    env: { ...env, ...fenced?.env },
    stdin: '',
    graceMs: 2_000,
    deadlineMs: minutes * 60_000,
    signal,
    onPiece: (text) => {
      output = `${output}${text}`.slice(-OUTPUT_KEPT)
    },
  })
  if (ended.stopped === 'told') return undefined
  const tail = secrets.mask(output).slice(-TAIL_KEPT)
  if (ended.stopped) return { check, result: 'timeout', tail: `${tail}\n(stopped after ${count(minutes, 'minute')})` }
  if (NOT_STARTED.test(output) && (ended.code === 126 || ended.code === 127))
    return {
      check,
      result: 'broken',
      tail: `"${program}" cannot be run: its interpreter is missing, or it is not a program.`,
    }
  if (fenced && ended.code === 1 && output.startsWith('bwrap: '))
    return { check, result: 'broken', tail: `The sandbox could not be created: ${tail.trim()}` }
  const tests = countTests(output)
  const counted = tests === undefined ? {} : { tests }
  if (ended.code === 0) return { check, result: 'pass', tail, ...counted }
  const failures = countFailures(output)
  return {
    check,
    result: 'fail',
    tail: tail || `(no output; exit code ${ended.code ?? ended.signal})`,
    ...(failures ? { failures } : {}),
    ...counted,
  }
}

/** Whether the program of a check exists. */
export function canStart(check: string, dir: string, path: string | undefined): boolean {
  return findProgram(parseCommandLine(check)[0] ?? '', dir, path) !== undefined
}

/** The checks that the project in a folder defines. */
export function findChecks(dir: string): string[] {
  try {
    return findRepoChecks({ names: readdirSync(dir), read: (name) => readFileSync(join(dir, name), 'utf8') })
  } catch {
    return [] // an unreadable file defines none
  }
}
