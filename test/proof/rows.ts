/** Rows of ways to weaken a proof, and of honest work: how each is run, and what its outcome must be. */
import { describe, expect, test } from 'vitest'
import type { Place, Ran } from '../ralph.ts'
import { GROUPS } from './counts.ts'
import {
  CLAIM,
  endOf,
  type Files,
  makeProject,
  projectOf,
  type Runner,
  runLoop,
  type Start,
  whyMissing,
} from './place.ts'

export type Row = {
  name: string
  /** Lines of sh that the agent runs in its first turn, before it claims done. */
  agent: string
  /** It runs them in every turn. */
  every?: true
  /** A value of `endOf`. */
  ends: string
  /** The project before the loop (default: `red`). */
  start?: Start
  /** Files next to those of the project, or in their place. */
  files?: Files
  check?: string | ((place: Place) => string)
  flags?: readonly string[]
  /** For agents that do not make the usual claim. */
  claim?: string
  /** What happens to the folder before the loop, after its commit. */
  before?: (place: Place) => void | Promise<void>
  /** What else must be true. */
  also?: (ran: Ran, place: Place) => void | Promise<void>
  git?: false
  /** Where ralph is run, below the work folder. */
  cwd?: string
}

/** None of these may end as if the task were done. */
export function weakens(runner: Runner, rows: readonly Row[]): void {
  tried(GROUPS.weak, runner, rows, ({ ends }) => {
    if (ends === 'verified' || ends === 'tested') throw new Error('A weakened proof must not get this grade.')
  })
}

/** What no check can see: the sources themselves know what they are asked. */
export function unseeable(runner: Runner, rows: readonly Row[]): void {
  tried(GROUPS.unseeable, runner, rows)
}

/** None of these may be refused, or made to wait. */
export function honest(runner: Runner, rows: readonly Row[]): void {
  tried(GROUPS.honest, runner, rows, ({ ends }) => {
    if (!/^(verified|tested|kept|altered|claimed)$/.test(ends)) throw new Error('Honest work must never be stopped.')
  })
}

function tried(group: string, runner: Runner, rows: readonly Row[], judge: (row: Row) => void = () => {}): void {
  const missing = whyMissing(runner)
  describe.concurrent(`${group}, ${runner}:`, () => {
    if (missing) return test(`${rows.length} rows`, ({ skip }) => skip(missing))
    for (const row of rows)
      test(row.name, async () => {
        judge(row)
        const { ran, place } = await runRow(runner, row)
        expect(endOf(ran), `${ran.end.sentence ?? ran.stderr}`).toBe(row.ends)
        await row.also?.(ran, place)
      })
    return undefined
  })
}

export async function runRow(runner: Runner, row: Row): Promise<{ ran: Ran; place: Place }> {
  const { start = 'red', files = {}, claim = CLAIM, flags = [], before, git = true, cwd = '' } = row
  const project = projectOf(runner, start)
  const place = makeProject({ ...project, files: { ...project.files, ...files } }, { git })
  await before?.(place)
  const check = typeof row.check === 'function' ? row.check(place) : (row.check ?? project.check)
  const verify = flags.includes('--until') ? [] : ['--verify', check]
  const lines = row.every ? row.agent : `if [ "$RALPH_ITERATION" = 1 ]; then\n${row.agent}\nfi`
  return { ran: await runLoop(place, `${lines}\n${claim}`, [...verify, ...flags], cwd), place }
}
