/** The prompts of a project: templates with variables, the user's own before ralph's. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { plan } from '../engine/schedule.ts'
import { RalphError } from '../error.ts'
import { parseTasks } from '../formats/tasks.ts'
import { renderTemplate } from '../formats/template.ts'
import { ARTEFACTS, type Project, projectAt } from './folder.ts'
import { planned, readTasksOf } from './record.ts'

/** What the execute prompt says about the task. */
export type NamedTask = { id: string; title: string; description: string; attempts: number; max_attempts: number }

/** `dir` is searched for custom templates; `folder` is where the agent finds the project files. */
export type At = { dir?: string; folder?: string }

/** The prompt for an agent that sets up a project. */
export function parseInit(projectName: string, at: At = {}): string {
  return render('init.md', projectName, at, {})
}

/** The prompt of one round of the interview. */
export function parseInterview(projectName: string, round: number, rounds: number, at: At = {}): string {
  return render('interview.md', projectName, at, {
    round: String(round),
    rounds: String(rounds),
    final_round: round >= rounds ? 'yes' : 'no',
    round_task: round >= rounds ? FINAL_ROUND : EARLY_ROUND,
  })
}

/** The prompt of one turn at one task. Without a task: the one that is next in tasks.json. */
export function parseExecute(
  projectName: string,
  iteration: number,
  maxIterations: number,
  named?: NamedTask,
  at: At = {},
): string {
  const task = named ?? nextTask(projectAt(at.dir ?? process.cwd(), projectName))
  return render('execute.md', projectName, at, {
    iteration: String(iteration),
    max_iterations: String(maxIterations),
    task_id: task.id,
    task_title: task.title,
    task_description: task.description || task.title,
    attempt: String(task.attempts),
    max_attempts: String(task.max_attempts),
  })
}

function nextTask(project: Project): NamedTask {
  const { tasks } = parseTasks(readTasksOf(project), join(project.folder, 'tasks.json'))
  const begun = new Set(tasks.filter(({ status }) => status === 'in_progress').map(({ id }) => id))
  const next = plan(tasks.map(planned), { working: new Set(), asking: new Map(), slots: 1, begun })
  const task = next.kind === 'start' ? tasks.find(({ id }) => id === next.ids[0]) : undefined
  if (!task)
    throw new RalphError(
      'tasks-invalid',
      `${project.name}: ${next.kind === 'stop' ? next.sentence : 'No task can continue.'} There is no task to prompt an agent for.`,
    )
  return begun.has(task.id) ? task : { ...task, attempts: task.attempts + 1 }
}

const EARLY_ROUND =
  'This is not the last round: leave the task list to a later one. Ask about what shapes the work most.'
const FINAL_ROUND =
  'This is the last round. Besides amending spec.md, write tasks.json as described below, so that work can start.'

function render(file: string, projectName: string, at: At, values: Readonly<Record<string, string>>): string {
  const project = projectAt(at.dir ?? process.cwd(), projectName)
  const path = findTemplate(project.dir, file)
  return renderTemplate(
    readTemplate(path),
    { project_name: projectName, project_dir: at.folder ?? project.folder, ...values },
    path,
  )
}

/** One of ralph's own templates that is not a prompt. */
export function ownTemplate(file: string): string {
  return readTemplate(join(TEMPLATES, file))
}

function findTemplate(dir: string, file: string): string {
  const own = join(dir, ARTEFACTS, 'templates', file)
  return existsSync(own) ? own : join(TEMPLATES, file)
}

function readTemplate(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new RalphError('template-invalid', `The template ${path} cannot be read. It must be a readable text file.`, {
      cause,
    })
  }
}

/** They are next to the code in the package, however deep that is. */
const TEMPLATES = templatesAbove(import.meta.dirname)

function templatesAbove(folder: string): string {
  const here = join(folder, 'templates')
  if (existsSync(join(here, 'execute.md')) || dirname(folder) === folder) return here
  return templatesAbove(dirname(folder))
}
