/** Answers a loop that asks a person: with words, or by allowing what it waits for. */
import { ALLOW, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Allowed, allow } from './allow.ts'
import { refuseBelowTurn } from './below-turn.ts'
import { findLoop, mustBeOpen } from './find-loop.ts'
import type { Operation } from './operation.ts'
import { standingOf } from './standing.ts'
import { type Steered, steer } from './steer.ts'

/** `allow`: allows the changed tests, or only those at `paths`; otherwise `words` say what to do. */
export type Answering = { loop: string; words?: string; allow?: true; paths?: string[] }

export const answer: Operation<Answering, Steered | Allowed> = {
  name: 'answer',
  effect: 'write',
  summary: 'Answers a loop that needs input: with words, or by allowing its test changes.',
  person: true,
  async run(context, { loop: name, words, allow: allows, paths }) {
    await refuseBelowTurn(context)
    const loop = await mustBeOpen(context, await findLoop(context, name))
    const { id } = loop
    const asked = askedBy(loop)
    if (asked === undefined) {
      const { sentence, hint } = standingOf(loop)
      throw new RalphError('loop-state', `Loop ${id} is not asking for input: ${sentence} ${hint}`)
    }
    if (allows && words === undefined) {
      if (asked === 'allow') return allow.run(context, { loop: id, ...(paths ? { paths } : {}) })
      throw new RalphError('input-invalid', `answer: loop ${id} asks a question: answer it with words.`, {
        field: 'words',
      })
    }
    if (words !== undefined && !allows && !paths) return steer.run(context, { loop: id, words })
    const how = asked === 'allow' ? 'either words, or allow: true (with paths to allow only some)' : 'words'
    throw new RalphError('input-invalid', `answer: give ${how}.`, { field: 'words' })
  },
}

function askedBy({ next }: Loop): 'allow' | 'words' | undefined {
  if (next.kind !== 'wait' || next.why !== 'person') return undefined
  return next.about === ALLOW ? 'allow' : 'words'
}
