/** A task no loop has worked on yet: its text, its settings, and a forecast. */
import { useEffect } from 'preact/hooks'
import { type Listed, remove, statusWords } from '../board/actions.tsx'
import { anyTask, refreshAll, useQuery } from '../data/query.ts'
import { go } from '../data/route.ts'
import { Button, Link, Loading, Problem } from '../parts/common.tsx'
import { LIMITS } from '../task/draft.ts'
import { LIMIT_WORDS } from '../task/more.tsx'
import { startTask } from '../task/store.ts'
import { count } from '../words.ts'
import { editTask, PromptView } from './task-dialog.tsx'

export function TaskScreen({ id }: { id: string }) {
  const { value: task, error, refresh } = useQuery('get_task', { task_id: id }, anyTask)
  const loop = task?.loop_id
  useEffect(() => {
    if (loop) go(`/loops/${loop}`, { replace: true })
  }, [loop])
  if (error && !task) return <Unknown error={error} retry={refresh} />
  if (!task || loop) return <Loading />
  const start = async () => {
    await startTask(id)
    refreshAll()
  }
  return (
    <div class="screen task">
      <header class="screen-head">
        <h1>{task.title}</h1>
        <Button kind="primary" run={start}>
          Start
        </Button>
        <Button run={() => editTask(task)}>Edit</Button>
        <Button kind="danger" run={() => remove(task, () => go('/board'))}>
          Delete
        </Button>
      </header>
      {task.description && <p class="description">{task.description}</p>}
      <Facts task={task} />
      <Outlook id={id} />
    </div>
  )
}

function Unknown({ error, retry }: { error: Error; retry: () => void }) {
  return (
    <div class="screen">
      <h1>Task</h1>
      <Problem error={error} retry={retry} />
      <Link to="/board">Back to the board</Link>
    </div>
  )
}

function Facts({ task }: { task: Listed }) {
  const { limits, checks, stages, use_ralph_wiggum: loops, ralph_max_iterations: most } = task
  const bounds = LIMITS.flatMap((name) => (limits[name] ? [`${LIMIT_WORDS[name][0]}: ${limits[name]}`] : []))
  const often = `until proven, ${most ? `at most ${count(most, 'iteration')}` : 'no limit'}${limits.adaptive ? ', adaptive' : ''}`
  const facts: [string, string][] = [
    ['Status', statusWords(task.status) + (task.archived ? ', archived' : '')],
    ['Folder', task.repo ?? 'the folder of its group or of the server'],
    ['Agent', task.agent],
    ['Works in', task.worktree ? 'a worktree of its own' : 'the folder'],
    ['Loop', loops ? often : 'one turn'],
    ['Checks', checks.join('\n') || 'none: only the agent’s word counts'],
    ['Stages', loops ? stages.map(({ name, check }) => (check ? `${name}: ${check}` : name)).join('\n') : ''],
    ['Limits', bounds.join(', ')],
    ['Group', task.project_id ?? ''],
    ['Type and labels', [...(task.type ? [task.type] : []), ...task.labels].join(', ')],
    ['Priority', task.priority ? String(task.priority) : ''],
  ]
  return (
    <dl class="task-facts">
      {facts.map(([name, value]) => value && <Fact key={name} name={name} value={value} />)}
      {task.depends_on.length > 0 && (
        <div>
          <dt>Starts after</dt>
          <dd>
            {task.depends_on.map((id) => (
              <Dependency key={id} id={id} isOpen={task.waits_for.includes(id)} />
            ))}
          </dd>
        </div>
      )}
    </dl>
  )
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Dependency({ id, isOpen }: { id: string; isOpen: boolean }) {
  const task = useQuery('get_task', { task_id: id }, anyTask).value
  return (
    <p>
      <Link to={`/tasks/${id}`}>{task?.title ?? id}</Link> {isOpen ? '(not done yet)' : '✓ done'}
    </p>
  )
}

function Outlook({ id }: { id: string }) {
  const forecast = useQuery('get_forecast', { task_id: id }, anyTask).value
  const prompt = useQuery('get_task_prompt', { task_id: id }, anyTask).value
  return (
    <section class="card outlook">
      <h2>Forecast</h2>
      <p>{forecast?.sentence ?? '…'}</p>
      <h2>Prompt</h2>
      {prompt && <PromptView prompt={prompt.prompt} />}
    </section>
  )
}
