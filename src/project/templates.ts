/** The prompts of a project: templates with variables, the person's own before ralph's. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { renderTemplate } from '../formats/template.ts'
import { ARTEFACTS, projectAt } from './folder.ts'

/** What the execute prompt says about the one task. */
export type NamedTask = { id: string; title: string; description: string; attempts: number; max_attempts: number }

/** `dir` is where the project's own templates are looked for; `folder` is where its agent finds the files. */
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

/** The prompt of one turn at one task. */
export function parseExecute(
  projectName: string,
  iteration: number,
  maxIterations: number,
  task: NamedTask,
  at: At = {},
): string {
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

const EARLY_ROUND =
  'This is not the last round: leave the list of tasks to a later one. Ask what matters most for the shape of the work.'
const FINAL_ROUND =
  'This is the last round. Besides amending spec.md, write tasks.json as described below, so that the work can begin.'

function render(file: string, projectName: string, at: At, values: Readonly<Record<string, string>>): string {
  const project = projectAt(at.dir ?? process.cwd(), projectName)
  const path = findTemplate(project.dir, file)
  return renderTemplate(
    readTemplate(path),
    { project_name: projectName, project_dir: at.folder ?? project.folder, ...values },
    path,
  )
}

/** The text of one of ralph's own templates that is no prompt. */
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

/** They lie beside the code in the package, however deep that is. */
const TEMPLATES = templatesAbove(import.meta.dirname)

function templatesAbove(folder: string): string {
  const here = join(folder, 'templates')
  if (existsSync(join(here, 'execute.md')) || dirname(folder) === folder) return here
  return templatesAbove(dirname(folder))
}
