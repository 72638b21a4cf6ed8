/** The dialog that creates or edits a task. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type BoardFields, type BoardTask, toPrompt } from '../../src/formats/board-task.ts'
import { useQuery } from '../data/query.ts'
import { call } from '../data/source.ts'
import { Button } from '../parts/common.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { AgentField } from '../task/agent.tsx'
import { fieldsOf } from '../task/draft.ts'
import { ForecastLine } from '../task/forecast.tsx'
import { type Form, Switch } from '../task/form.tsx'
import { LoopFields } from '../task/loop.tsx'
import { MoreFields } from '../task/more.tsx'
import { useTaskForm } from '../task/use-task-form.ts'
import { type Places, WhatFields } from '../task/what.tsx'

export function newTask(preset: Partial<BoardFields> = {}): void {
  showModal(<TaskDialog key="new" preset={preset} />)
}

/** The current state: a list may be a moment behind. */
export async function editTask({ id }: Pick<BoardTask, 'id'>): Promise<void> {
  showModal(<TaskDialog key={id} task={await call('get_task', { task_id: id })} />)
}

function TaskDialog({ task, preset = {} }: { task?: BoardTask; preset?: Partial<BoardFields> }) {
  const { draft, write, problem, base, box, save, takeNews, isLeaving, leave, stay } = useTaskForm(task, preset)
  const [isPreviewed, setPreviewed] = useState(false)
  const form: Form = { draft, set: (change) => write({ ...draft, ...change }), ...(problem ? { problem } : {}) }
  const places = usePlaces()
  const dir = draft.repo.trim() || places.groups.find((one) => one.project_id === draft.project_id)?.repo || places.here
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save(false)
    else if (event.key === 'Escape') leave()
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={task ? 'Edit task' : 'New task'} close={leave} wide>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: keys that hold in every field */}
      <div class="task-form" ref={box} onKeyDown={onKeyDown}>
        <WhatFields form={form} places={places} dir={dir} />
        <div class="columns">
          <AgentField form={form} dir={dir} />
          <Switch form={form} name="worktree" label="Work in its own worktree">
            {draft.worktree ? 'On its own branch; you accept the result.' : 'It changes the files in the folder.'}
          </Switch>
        </div>
        <LoopFields form={form} dir={dir} />
        <ForecastLine draft={draft} dir={dir} />
        <MoreFields form={form} self={base?.id} />
        {isPreviewed && <PromptView prompt={toPrompt(fieldsOf(draft))} />}
        <div class="task-end">
          {problem?.field === '' && (
            <div class="problem" role="alert">
              <p>{problem.message}</p>
              {problem.isConflict && <Button run={takeNews}>Load the new version, keep my edits</Button>}
            </div>
          )}
          {isLeaving ? (
            <Leaving stay={stay} />
          ) : (
            <footer>
              <Button run={() => setPreviewed(!isPreviewed)}>{isPreviewed ? 'Hide prompt' : 'Preview prompt'}</Button>
              <span class="grow" />
              <Button run={() => save(false)} title="Ctrl+Enter">
                Save
              </Button>
              <Button kind="primary" run={() => save(true)}>
                Save and start
              </Button>
            </footer>
          )}
        </div>
      </div>
    </Dialog>
  )
}

/** One key or click never loses what was typed. */
function Leaving({ stay }: { stay: () => void }) {
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.querySelector('button')?.focus(), [])
  return (
    <footer ref={box}>
      <p class="grow" role="alert">
        Discard your changes?
      </p>
      <Button run={stay}>Keep editing</Button>
      <Button kind="danger" run={closeModal}>
        Discard
      </Button>
    </footer>
  )
}

export function PromptView({ prompt }: { prompt: string }) {
  return (
    <section class="prompt-view" aria-label="Prompt">
      <pre tabIndex={0}>{prompt}</pre>
      <small>
        The prompt as other tools get it. With ralph, the agent also gets the check results and the iteration.
      </small>
    </section>
  )
}

function usePlaces(): Places {
  const groups = useQuery('list_groups', {}).value?.groups ?? []
  const used = useQuery('get_overview', {}).value?.folders ?? []
  const here = useQuery('get_context', {}).value?.dir ?? ''
  const folders = new Set([...groups.flatMap(({ repo }) => repo ?? []), ...used.map(({ dir }) => dir)])
  return { groups, folders: [...folders], here }
}
