/** Removes what old loops left on disk. */
import { useState } from 'preact/hooks'
import { refreshAll } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { Confirm } from '../parts/ask.tsx'
import { Button } from '../parts/common.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { count } from '../words.ts'
import { Section } from './section.tsx'

export function CleanUp() {
  const [days, setDays] = useState(30)
  const isFine = Number.isInteger(days) && days >= 0
  return (
    <Section
      title="Clean up"
      words="Removes transcripts, checkpoints and state files of old loops. The outcome of each loop stays in the database."
    >
      <label class="days">
        Days to keep
        <input
          type="number"
          min="0"
          max="100000"
          value={days}
          onInput={({ currentTarget }) => setDays(currentTarget.valueAsNumber)}
        />
      </label>
      <Button kind="danger" disabled={!isFine} run={() => confirm(days)}>
        Remove older files …
      </Button>
      <p class="muted">
        ralph does this on its own after 30 days, or <code>RALPH_KEEP_DAYS</code>.
      </p>
    </Section>
  )
}

function confirm(days: number): void {
  showModal(
    <Confirm
      title="Remove old files?"
      text={`Transcripts and checkpoints of loops that ended more than ${count(days, 'day')} ago are deleted permanently. Those loops can no longer be rolled back or forked.`}
      yes="Remove them"
      danger
      close={closeModal}
      run={async () => {
        const { transcripts, checkpoints, tasks } = await call('prune', { days }, once())
        toast({
          text: `Removed the transcripts of ${count(transcripts, 'iteration')}, ${count(checkpoints, 'checkpoint')}, and the state of ${count(tasks, 'vault task')}.`,
        })
        refreshAll()
      }}
    />,
  )
}
