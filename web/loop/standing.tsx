/** The state of the loop in one sentence: what its grade is based on, why it stopped, or what it asks. */
import { GRADE_WORDS, type Tone } from '../badge.ts'
import { isRecorded } from '../data/source.ts'
import { undo } from '../parts/actions.tsx'
import { Button, Code, Sentence } from '../parts/common.tsx'
import { capital } from '../words.ts'
import { LoopAnswer } from './answer.tsx'
import type { Found } from './head.tsx'
import { useNeed } from './need.ts'

const TONES: Readonly<Record<Found['standing']['kind'], Tone>> = {
  verified: 'green',
  tested: 'teal',
  kept: 'teal',
  altered: 'amber',
  claimed: 'gray',
  cancelled: 'gray',
  halted: 'red',
  asks: 'amber',
  waiting: 'amber',
  'under-way': 'blue',
}

export function Standing({ found }: { found: Found }) {
  const { standing, loop, unattended } = found
  const { next } = loop
  const need = useNeed(loop.id)
  if (standing.kind === 'asks' && !isRecorded()) return <LoopAnswer found={found} need={need} />
  if (standing.kind === 'under-way' && !unattended) return null
  return (
    <section class={`callout standing ${TONES[standing.kind]}`} aria-label="State">
      <p>
        {next.kind === 'complete' ? (
          <>
            <strong>{capital(next.proof)}.</strong> <Sentence text={next.sentence} />{' '}
            {next.proof !== 'verified' && <span class="muted">{GRADE_WORDS[next.proof]}</span>}
          </>
        ) : next.kind === 'halt' ? (
          <>
            <strong>{next.reason === 'cancelled' ? 'Cancelled.' : 'Why it stopped:'}</strong> {next.sentence}
          </>
        ) : (
          capital(standing.sentence)
        )}
      </p>
      {loop.tally.findings.length > 0 && next.kind === 'complete' && next.proof === 'altered' && (
        <ul class="paths">
          {loop.tally.findings.map(({ path, words, kind }) => (
            <li key={kind + path}>
              <code>{path}</code> {words}
            </li>
          ))}
        </ul>
      )}
      {unattended && !isRecorded() && (
        <p>
          The process that ran it has ended. Resume it here, or in a terminal: <Code>{`ralph resume ${loop.id}`}</Code>
        </p>
      )}
      {!isRecorded() && next.kind === 'halt' && loop.spec.onHalt && loop.spec.work.owner?.kind !== 'fleet' && (
        <Button run={() => undo(loop.id)}>Undo the restore</Button>
      )}
    </section>
  )
}
