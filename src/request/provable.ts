/** Whether the required proof is possible at all: if not, the request is refused before anything is spent. */
import type { Grade, Spec } from '../engine/loop.ts'
import { allChecks } from '../engine/stages.ts'
import { RalphError } from '../error.ts'

/** `check`: how to give a check here. `whose`: what cannot be proven. */
export type Provable = { check?: string; whose?: string }

export function mustBeProvable(spec: Spec, { check = '--verify "npm test"', whose }: Provable = {}): void {
  const { require } = spec
  if (require === undefined) return
  const [about, asked] =
    whose === undefined ? ['', `--require ${require}`] : [`${whose}: `, `the required proof "${require}"`]
  const why = unreachable(spec, require, { check, asked })
  if (why) throw new RalphError('usage', `${about}${why}`)
}

function unreachable(spec: Spec, grade: Grade, { check, asked }: { check: string; asked: string }): string | undefined {
  if (allChecks(spec).length === 0) return `${asked} needs a check: add one with ${check}.`
  // A command that is the task itself needs no experiment, as long as its tests are untouched.
  if (spec.proof === undefined || spec.until || grade === 'kept') return undefined
  if (grade === 'tested')
    return `The proof must be "tested", which only experiments can show: leave out --proof ${spec.proof}, or require "kept".`
  if (spec.work.baselineMinutes === 0)
    return `The proof must be "${grade}", but the checks do not run before the work here, so only experiments can show it: leave out --proof ${spec.proof}.`
  return undefined
}
