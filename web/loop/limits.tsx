/** The limits of the loop, and why they are what they are. */
import type { Loop } from '../../src/engine/loop.ts'
import { refreshAll } from '../data/query.ts'
import { call, isRecorded } from '../data/source.ts'
import { Ask } from '../parts/ask.tsx'
import { Button } from '../parts/common.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { amount, count, money } from '../words.ts'

const SIZES = { S: 'small', M: 'medium-sized', L: 'large', XL: 'very large' } as const

export function LimitsCard({ loop }: { loop: Loop }) {
  const { limits, work } = loop.spec
  const { tally } = loop
  const most = limits.iterations === 0 ? 0 : limits.iterations + tally.extra
  const isOpen = loop.next.kind !== 'complete' && loop.next.kind !== 'halt'
  return (
    <section class="card limits" aria-label="Limits">
      <div class="body">
        <h2>Limits</h2>
        <dl class="pairs">
          <dt>Iterations</dt>
          <dd>{most === 0 ? `${tally.iteration}, no limit` : `${tally.iteration} of ${most}`}</dd>
          {limits.minutes !== undefined && <Pair name="Time" value={count(limits.minutes, 'minute')} />}
          {limits.costUsd !== undefined && (
            <Pair name="Cost" value={`${money(tally.costUsd)} of ${money(limits.costUsd)}`} />
          )}
          {limits.tokens !== undefined && (
            <Pair name="Tokens" value={`${amount(tally.tokens)} of ${amount(limits.tokens)}`} />
          )}
          <Pair name="Stops after" value={`${count(limits.noProgress, 'iteration')} without progress`} />
        </dl>
        {limits.ceiling !== undefined && (
          <p class="muted">
            Adaptive: the task looked {work.size ? SIZES[work.size] : 'ordinary'}, so it started with{' '}
            {count(limits.iterations, 'iteration')}
            {tally.extra > 0 ? ` and got ${tally.extra} more because failures kept falling` : ''}. The limit can grow to{' '}
            {limits.ceiling} while failures keep falling.
          </p>
        )}
        {isOpen && !isRecorded() && <Button run={() => change(loop.id)}>Change the limit …</Button>}
      </div>
    </section>
  )
}

function Pair({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}

function change(loop: string): void {
  showModal(
    <Ask
      title="Change the limit"
      label="Max iterations in total (0: no limit)"
      hint="Counted from the first iteration. Takes effect with the loop’s next step."
      send="Set"
      close={closeModal}
      run={async (words) => {
        if (!/^\d{1,6}$/.test(words)) throw new Error(`"${words}" is not a whole number. Enter 0 for no limit.`)
        await call('set_limits', { loop, iterations: Number(words) })
        refreshAll()
      }}
    />,
  )
}
