/** A project to execute: its tasks, the script of its agents, and its files afterwards. */
import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Obstacle } from '../src/formats/obstacles.ts'
import type { Entry } from '../src/formats/progress.ts'
import type { Step } from '../src/formats/script.ts'
import type { Task } from '../src/formats/tasks.ts'
import { makePlace, type Place, type Ran, type Running } from './ralph.ts'

export const FOLDER = '.artefacts/shop'

export type TaskGiven = Partial<Omit<Task, 'verify'>> & { verify?: string | string[] }

/** A place with the project shop in it, in a repository with one commit. */
export function makeProject(tasks: readonly (string | TaskGiven)[], { git }: { git: boolean } = { git: true }): Place {
  const place = makePlace({ git })
  place.write(`${FOLDER}/spec.md`, '# Shop\n')
  giveTasks(place, tasks)
  return place
}

/** The same without a repository, for what does not need one: git would be started some sixty times per turn. */
export function makePlain(tasks: readonly (string | TaskGiven)[]): Place {
  return makeProject(tasks, { git: false })
}

export function giveTasks(place: Place, tasks: readonly (string | TaskGiven)[]): void {
  const list = tasks.map((given) => (typeof given === 'string' ? { id: given } : given))
  const full = list.map((task) => ({ title: `Title of ${task.id}`, ...task }))
  place.write(`${FOLDER}/tasks.json`, JSON.stringify({ project_name: 'shop', version: 1, tasks: full }))
}

/** The turns of each task; those of `T1/merge` resolve a conflict of T1. */
export type Turns = Readonly<Record<string, readonly (readonly Step[])[]>>

export function scripted(place: Place, tasks: Turns): string {
  const file = join(place.root, 'script.json')
  writeFileSync(file, JSON.stringify({ tasks }))
  return `scripted:${file}`
}

/** Executes the project with these turns to completion. */
export function execute(place: Place, turns: Turns, ...flags: string[]): Promise<Ran> {
  return place.ralph(['execute', 'shop', '--agent', scripted(place, turns), '--json', ...flags])
}

/** The same, left running. */
export function startExecute(place: Place, turns: Turns, ...flags: string[]): Running {
  return place.start(['execute', 'shop', '--agent', scripted(place, turns), '--json', ...flags])
}

export const edit = (path: string, content: string): Step => ({ edit: { path, content } })
export const sh = (line: string): Step => ({ shell: ['sh', '-c', line] })
export const done: Step = { report: { status: 'completed' } }
export const attempted: Step = { report: { status: 'attempted' } }
/** A turn that does a task: one file, named after it. */
export const does = (id: string): Step[] => [edit(`${id}.txt`, `${id}\n`), done]
/** Lines of JavaScript on one file of the project; `it` is its content. */
export const changing = (face: string, code: string): Step => ({
  shell: [
    process.execPath,
    '-e',
    `const fs = require('fs'); const file = process.env.RALPH_PROJECT_DIR + '/${face}'; const it = JSON.parse(fs.readFileSync(file)); ${code}; fs.writeFileSync(file, JSON.stringify(it))`,
  ],
})

export function tasksOf(place: Place): Task[] {
  return (JSON.parse(place.read(`${FOLDER}/tasks.json`)) as { tasks: Task[] }).tasks
}

export function taskOf(place: Place, id: string): Task | undefined {
  return tasksOf(place).find((task) => task.id === id)
}

/** "T1 completed, T2 pending" */
export function statuses(place: Place): string {
  return tasksOf(place)
    .map(({ id, status }) => `${id} ${status}`)
    .join(', ')
}

export function entriesOf(place: Place): Entry[] {
  return JSON.parse(place.read(`${FOLDER}/state.json`)) as Entry[]
}

export function obstaclesOf(place: Place): Obstacle[] {
  return (JSON.parse(place.read(`${FOLDER}/obstacles.json`)) as { obstacles: Obstacle[] }).obstacles
}

export function results(place: Place): string {
  return place.read(`${FOLDER}/results.md`)
}

/** The output besides the events of the loops. */
export function messages({ lines }: Ran): string {
  return lines.flatMap(({ type, text }) => (type === 'message' ? [String(text)] : [])).join('\n')
}

export function gitIn(place: Place): (...args: string[]) => string {
  const env = { ...place.env, GIT_OPTIONAL_LOCKS: '0' }
  return (...args) =>
    execFileSync('git', args, { cwd: place.dir, env, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '')
}

/** The subjects of the commits on a branch, newest first. */
export function logOf(place: Place, ref = 'HEAD'): string[] {
  return gitIn(place)('log', '--first-parent', '--format=%s', ref).split('\n')
}

/** What git reports as changed, including untracked files. */
export function changesOf(place: Place): string[] {
  return gitIn(place)('status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean)
}

/** Commits these files as a user would. */
export function commit(place: Place, files: Record<string, string>): void {
  const git = gitIn(place)
  for (const [name, text] of Object.entries(files)) place.write(name, text)
  git('add', '--', ...Object.keys(files))
  git('commit', '--quiet', '--message', 'By a person', '--', ...Object.keys(files))
}

export function isThere({ dir }: Place, name: string): boolean {
  return existsSync(join(dir, name))
}
