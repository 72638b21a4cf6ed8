/** The dialog in which a task is written or changed. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { type BoardFields, type BoardTask, toPrompt } from '../../src/formats/board-task.ts'
import { refreshAll, useQuery } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { Button } from '../parts/common.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { closeModal, showModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { AgentField } from '../task/agent.tsx'
import { changedMeanwhile, changesOf, type Draft, draftOf, fieldsOf, NEW, rebase } from '../task/draft.ts'
import { ForecastLine } from '../task/forecast.tsx'
import { type Form, Switch } from '../task/form.tsx'
import { LoopFields } from '../task/loop.tsx'
import { MoreFields } from '../task/more.tsx'
import { fieldAt, type Problem, problemOf, startTask, storeTask } from '../task/store.ts'
import { type Places, WhatFields } from '../task/what.tsx'
import { plain } from '../words.ts'

export function newTask(preset: Partial<BoardFields> = {}): void {
  showModal(<TaskDialog key="new" preset={preset} />)
}

export function editTask(task: BoardTask): void {
  showModal(<TaskDialog key={task.id} task={task} />)
}

function TaskDialog({ task, preset }: { task?: BoardTask; preset?: Partial<BoardFields> }) {
  const [base, setBase] = useState(task)
  const [draft, setDraft] = useState(() => draftOf(task ?? { ...NEW, ...preset }))
  const [problem, setProblem] = useState<Problem>()
  const [isLeaving, setLeaving] = useState(false)
  const [isPreviewed, setPreviewed] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const key = useRef(once())
  const isDirty = Object.keys(changesOf(draft, base ?? NEW)).length > 0
  const leave = () => (isDirty ? setLeaving(true) : closeModal())
  const write = (next: Draft) => {
    key.current = once()
    setDraft(next)
    setLeaving(false)
  }
  const form: Form = { draft, set: (change) => write({ ...draft, ...change }), ...(problem ? { problem } : {}) }
  const save = async (start: boolean) => {
    setProblem(undefined)
    try {
      const saved = await storeTask(draft, base, key.current)
      setBase(saved)
      if (start) await startTask(saved.id)
      else toast({ tone: 'green', text: 'Saved.' })
      closeModal()
    } catch (cause) {
      setProblem(problemOf(cause, box.current))
    }
    refreshAll()
  }
  const takeNews = async () => {
    if (!base) return
    const now = await call('get_task', { task_id: base.id })
    write(rebase(draft, base, now))
    setBase(now)
    setProblem(undefined)
    toast({ text: `Loaded. Changed by others: ${changedMeanwhile(base, now).map(plain).join(', ') || 'its status'}.` })
  }
  useEffect(() => {
    const field = fieldAt(box.current, problem?.field ?? '')
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
  }, [problem])
  useKeptOpen(isDirty)
  const places = usePlaces()
  const dir = draft.repo.trim() || places.groups.find((one) => one.project_id === draft.project_id)?.repo || places.here
  return (
    <Dialog title={task ? 'Edit task' : 'New task'} close={leave} wide>
      <div
        class="task-form"
        ref={box}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void save(false)
          else if (event.key === 'Escape') leave()
          else return
          event.preventDefault()
        }}
      >
        <WhatFields form={form} places={places} dir={dir} />
        <div class="columns">
          <AgentField form={form} dir={dir} />
          <Switch form={form} name="worktree" label="Work in a worktree of its own">
            {draft.worktree ? 'On a branch of its own; you accept the result.' : 'It changes the files in the folder.'}
          </Switch>
        </div>
        <LoopFields form={form} dir={dir} />
        <ForecastLine draft={draft} dir={dir} />
        <MoreFields form={form} self={base?.id} />
        {isPreviewed && <PromptView prompt={toPrompt(fieldsOf(draft))} />}
        {problem && problem.field === '' && (
          <div class="problem" role="alert">
            <p>
              {base && !task && !problem.isConflict ? `Saved, but not started: ${problem.message}` : problem.message}
            </p>
            {problem.isConflict && <Button run={takeNews}>Load the new state, keep what I typed</Button>}
          </div>
        )}
        {isLeaving ? (
          <Leaving stay={() => setLeaving(false)} />
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
    </Dialog>
  )
}

/** Nothing that was typed is lost by one key or click. */
function Leaving({ stay }: { stay: () => void }) {
  const box = useRef<HTMLElement>(null)
  useEffect(() => box.current?.querySelector('button')?.focus(), [])
  return (
    <footer ref={box} role="alert">
      <p class="grow">Discard what you typed?</p>
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
      <pre>{prompt}</pre>
      <small>
        As other tools get it. ralph’s own agents also hear what the checks said, and ralph counts the iterations.
      </small>
    </section>
  )
}

function useKeptOpen(isDirty: boolean): void {
  useEffect(() => {
    const warn = (event: Event) => isDirty && event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isDirty])
}

function usePlaces(): Places {
  const groups = useQuery('list_groups', {}).value?.groups ?? []
  const used = useQuery('get_overview', {}).value?.folders ?? []
  const here = useQuery('get_context', {}).value?.dir ?? ''
  const folders = new Set([...groups.flatMap(({ repo }) => repo ?? []), ...used.map(({ dir }) => dir)])
  return { groups, folders: [...folders], here }
}
