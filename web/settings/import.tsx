/** Imports the tasks of vibe-kanban, after a preview. */
import { useState } from 'preact/hooks'
import { refreshAll } from '../data/query.ts'
import { call, type OutputOf, once } from '../data/source.ts'
import { Button, Link } from '../parts/common.tsx'
import { count, plain } from '../words.ts'
import { Section } from './section.tsx'

type Found = OutputOf<'import_board'> & { isDone: boolean }

export function Import() {
  const [file, setFile] = useState('vibe-kanban')
  const [found, setFound] = useState<Found>()
  const read = async (dry_run: boolean) => {
    setFound({ ...(await call('import_board', { file, dry_run }, dry_run ? {} : once())), isDone: !dry_run })
    if (!dry_run) refreshAll()
  }
  return (
    <Section
      title="Import from vibe-kanban"
      words="ralph only reads its database. Tasks keep their ids, so importing again adds only what is new."
    >
      <label>
        Database
        <input
          class="mono"
          value={file}
          spellcheck={false}
          onInput={({ currentTarget }) => {
            setFile(currentTarget.value)
            setFound(undefined)
          }}
        />
      </label>
      <p class="muted">“vibe-kanban” looks in the usual place. Or enter the path to its db.v2.sqlite.</p>
      <Button run={() => read(true)} disabled={!file.trim()}>
        Preview
      </Button>
      {found && <Preview found={found} start={() => read(false)} />}
    </Section>
  )
}

function Preview({ found, start }: { found: Found; start: () => Promise<void> }) {
  const { tasks, groups, known, byStatus, notes, isDone } = found
  const kinds = Object.entries(byStatus).flatMap(([status, tasks]) => (tasks > 0 ? [`${tasks} ${plain(status)}`] : []))
  return (
    <div class="callout blue import" role="status">
      <p>
        {isDone ? 'Imported' : 'Would import'} <strong>{count(tasks, 'task')}</strong>
        {kinds.length > 0 && ` (${kinds.join(', ')})`} in {count(groups, 'new group')}.
        {known > 0 && ` ${count(known, 'task')} ${known === 1 ? 'is' : 'are'} already on the board.`}
      </p>
      {notes.length > 0 && (
        <ul>
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {isDone && <Link to="/board">Open the board</Link>}
      {!isDone && tasks + groups > 0 && (
        <Button kind="primary" run={start}>
          Import
        </Button>
      )}
    </div>
  )
}
