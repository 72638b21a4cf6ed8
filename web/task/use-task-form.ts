/** The state of the task form: what was typed, what was there before, what the server refused, whether to leave. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { BoardFields, BoardTask } from '../../src/formats/board-task.ts'
import { refreshAll } from '../data/query.ts'
import { call, once } from '../data/source.ts'
import { closeModal } from '../parts/modal.tsx'
import { toast } from '../parts/toast.tsx'
import { plain } from '../words.ts'
import { changedMeanwhile, changesOf, type Draft, draftOf, NEW, rebase } from './draft.ts'
import { fieldAt, type Problem, problemOf, startTask, storeTask } from './store.ts'

export function useTaskForm(given: BoardTask | undefined, preset: Partial<BoardFields>) {
  const [base, setBase] = useState(given)
  const [draft, setDraft] = useState(() => draftOf(given ?? { ...NEW, ...preset }))
  const [problem, setProblem] = useState<Problem>()
  const [isLeaving, setLeaving] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const key = useRef(once())
  const isDirty = Object.keys(changesOf(draft, base ?? NEW)).length > 0
  const write = (next: Draft) => {
    key.current = once() // a new request; the same one sent again is carried out once
    setDraft(next)
    setLeaving(false)
  }
  const save = async (start: boolean) => {
    setProblem(undefined)
    let before = ''
    try {
      const saved = await storeTask(draft, base, key.current)
      setBase(saved)
      before = 'Saved, but not started: '
      if (start) await startTask(saved.id)
      else toast({ tone: 'green', text: 'Saved.' })
      closeModal()
    } catch (cause) {
      setProblem(problemOf(cause, box.current, before))
    }
    refreshAll()
  }
  const takeNews = async () => {
    if (!base) return
    const now = await call('get_task', { task_id: base.id })
    const others = changedMeanwhile(base, now).map(plain)
    write(rebase(draft, base, now))
    setBase(now)
    setProblem(undefined)
    toast({ text: others.length > 0 ? `Loaded. Others changed: ${others.join(', ')}.` : 'Loaded.' })
  }
  useEffect(() => {
    const field = fieldAt(box.current, problem?.field ?? '')
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
  }, [problem])
  useEffect(() => {
    const warn = (event: Event) => isDirty && event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isDirty])
  const leave = () => (isDirty ? setLeaving(true) : closeModal())
  const stay = () => setLeaving(false)
  return { draft, write, problem, base, box, save, takeNews, isLeaving, leave, stay }
}
