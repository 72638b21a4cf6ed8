/** The interview: several agents in turn ask about the spec; the last one writes the tasks. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { printObstacles } from '../formats/obstacles.ts'
import { printProgress, readProgress } from '../formats/progress.ts'
import { printTasks, readTasks, type TaskList } from '../formats/tasks.ts'
import { withProblems } from '../prompt/interview-prompt.ts'
import { type FaceName, type Project, readFace, removeFace, writeFace } from './folder.ts'
import { parseInterview } from './templates.ts'

/** Which attempt at which round: the second attempt is the last. */
export type Round = { round: number; attempt: number }

export type Interview = {
  project: Project
  rounds: number
  /** Runs an agent with this prompt; resolves when it has ended. The caller checks what it wrote. */
  ask(prompt: string, at: Round): Promise<void>
  say(text: string): void
  /** Aborted when the user wants to stop. */
  signal: AbortSignal
}

/** The resulting tasks; undefined if it was stopped. */
export async function holdInterview(interview: Interview): Promise<TaskList | undefined> {
  const { project, rounds, signal } = interview
  mustBeReady(project)
  for (let round = 1; round <= rounds; round++) {
    await holdRound(interview, round)
    if (signal.aborted) return undefined
  }
  const list = settleTasks(project)
  if (readFace(project, 'state.json') === undefined) writeFace(project, 'state.json', printProgress([]))
  if (readFace(project, 'obstacles.json') === undefined) writeFace(project, 'obstacles.json', printObstacles([]))
  return list
}

/** The spec, if an interview about it may start. */
export function mustBeReady(project: Project): string {
  mustNotHaveStarted(project)
  return mustHaveSpec(project)
}

function mustHaveSpec(project: Project): string {
  const spec = readFace(project, 'spec.md')
  if (spec !== undefined) return spec
  throw new RalphError(
    'project-unknown',
    `${pathOf(project, 'spec.md')} is missing, and the interview needs it. Create it with: ralph init ${project.name}`,
  )
}

/** A task list that is being worked on must not be overwritten. */
function mustNotHaveStarted(project: Project): void {
  const read = readTasks(readFace(project, 'tasks.json') ?? '')
  const tasks = 'list' in read ? read.list.tasks : []
  const begun = tasks.filter(({ status, attempts }) => status === 'completed' || attempts > 0).map(({ id }) => id)
  const progress = readProgress(readFace(project, 'state.json') ?? '')
  if (begun.length === 0 && !('entries' in progress && progress.entries.length > 0)) return
  const what = begun.length > 0 ? begun.slice(0, 10).join(', ') : 'its tasks (see state.json)'
  throw new RalphError(
    'input-invalid',
    `Agents have already worked on ${what}, and an interview would overwrite tasks.json. Continue with \`ralph execute ${project.name}\`, or move tasks.json and state.json out of ${project.folder} first.`,
  )
}

async function holdRound(interview: Interview, round: number): Promise<void> {
  const { project, rounds, say, signal } = interview
  const prompt = parseInterview(project.name, round, rounds, { dir: project.dir })
  say(`round ${round} of ${rounds}`)
  const first = await attemptRound(interview, prompt, { round, attempt: 1 })
  if (first.length === 0 || signal.aborted) return
  for (const problem of first) say(problem)
  say(`Asking the agent once more. This is still round ${round} of ${rounds}.`)
  const second = await attemptRound(interview, withProblems(prompt, first), { round, attempt: 2 })
  if (second.length === 0 || signal.aborted) return
  throw new RalphError(
    'interview-failed',
    `Round ${round} of ${rounds} failed twice. ${second.join(' ')} What was written so far is in ${project.folder}. Start over with: ralph interview ${project.name}`,
  )
}

/** The problems after it, as sentences. */
async function attemptRound(interview: Interview, prompt: string, at: Round): Promise<string[]> {
  const { project, rounds, ask } = interview
  const spec = mustHaveSpec(project)
  removeFace(project, 'done.md')
  await ask(prompt, at)
  const done = existsSync(pathOf(project, 'done.md'))
  removeFace(project, 'done.md')
  return [
    ...(done ? [] : [`The agent ended without creating ${pathOf(project, 'done.md')}.`]),
    ...keepSpec(project, spec),
    ...(at.round === rounds ? taskProblems(project) : []),
  ]
}

/** Restores a lost spec. */
function keepSpec(project: Project, before: string): string[] {
  const after = readFace(project, 'spec.md')
  if (after !== undefined && (after.trim() !== '' || before.trim() === '')) return []
  writeFace(project, 'spec.md', before)
  const lost = after === undefined ? 'was deleted' : 'was emptied'
  return [`${pathOf(project, 'spec.md')} ${lost}; ralph restored it as it was before this attempt.`]
}

function taskProblems(project: Project): string[] {
  const path = pathOf(project, 'tasks.json')
  const text = readFace(project, 'tasks.json')
  if (text === undefined) return [`${path} is missing: the last round must write it.`]
  const read = readTasks(text)
  if ('problems' in read) return read.problems.map((problem) => `${path}: ${problem}`)
  return read.list.tasks.length > 0 ? [] : [`${path}: the list is empty. It needs at least one task.`]
}

/** The list from the last round, with the right project name. */
function settleTasks(project: Project): TaskList {
  const read = readTasks(readFace(project, 'tasks.json') ?? '')
  if (!('list' in read)) throw new Error('The tasks were looked at when the last round ended.')
  if (read.list.project_name === project.name) return read.list
  const list = { ...read.list, project_name: project.name }
  writeFace(project, 'tasks.json', printTasks(list))
  return list
}

function pathOf({ folder }: Project, name: FaceName): string {
  return join(folder, name)
}
