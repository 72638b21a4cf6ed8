import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { Project } from './folder.ts'
import { initProject } from './init.ts'
import { holdInterview } from './interview.ts'

const TASKS = JSON.stringify({ tasks: [{ id: 'T1', title: 'A cart' }] })

/** What one agent does to the files of the project. */
type Play = (files: Files) => void
type Files = { write(name: string, text: string): void; remove(name: string): void; has(name: string): boolean }

const ends: Play = ({ write }) => write('done.md', 'Over.')
const writesTasks: Play = ({ write }) => write('tasks.json', TASKS)
const both: Play = (files) => [writesTasks, ends].forEach((play) => void play(files))

async function makeProject(): Promise<Project & Files & { read(name: string): string }> {
  const { project } = await initProject(temporaryFolder(), 'shop')
  const at = (name: string) => join(project.folder, name)
  return {
    ...project,
    write: (name, text) => writeFileSync(at(name), text),
    remove: (name) => rmSync(at(name)),
    has: (name) => existsSync(at(name)),
    read: (name) => readFileSync(at(name), 'utf8'),
  }
}

/** An interview whose agents do this, one after the other; nobody is asked beyond them. */
function hold(project: Project & Files, rounds: number, plays: readonly Play[], signal = new AbortController().signal) {
  const goes: string[] = []
  const prompts: string[] = []
  const said: string[] = []
  const list = holdInterview({
    project,
    rounds,
    signal,
    say: (text) => void said.push(text),
    async ask(prompt, { round, attempt }) {
      goes.push(`${round}.${attempt}`)
      prompts.push(prompt)
      plays[goes.length - 1]?.(project)
    },
  })
  return { goes, prompts, said, list }
}

test('every round is one agent; the tasks of the last one are the result', async () => {
  const project = await makeProject()
  const { goes, prompts, said, list } = hold(project, 3, [ends, ends, both])
  expect(await list).toMatchObject({ project_name: 'shop', tasks: [{ id: 'T1' }] })
  expect(goes).toEqual(['1.1', '2.1', '3.1'])
  expect(prompts.map((prompt) => /This is round .*/.exec(prompt)?.[0].slice(0, 23))).toEqual([
    'This is round 1 of 3. T',
    'This is round 2 of 3. T',
    'This is round 3 of 3. T',
  ])
  expect(said).toEqual(['round 1 of 3', 'round 2 of 3', 'round 3 of 3'])
  expect(project.has('done.md')).toBe(false)
  expect(JSON.parse(project.read('tasks.json'))).toMatchObject({ project_name: 'shop', version: 1 })
  expect([project.read('state.json'), JSON.parse(project.read('obstacles.json'))]).toEqual(['[]\n', { obstacles: [] }])
})

test('existing files are left alone', async () => {
  const project = await makeProject()
  project.write('obstacles.json', '{"obstacles": [], "mine": 1}')
  project.write('state.json', '[ ]')
  await hold(project, 1, [both]).list
  expect([project.read('obstacles.json'), project.read('state.json')]).toEqual(['{"obstacles": [], "mine": 1}', '[ ]'])
})

describe('a round that went wrong is tried once more', () => {
  test.each<[story: string, first: Play, problem: RegExp]>([
    ['nobody made done.md', writesTasks, /ended without creating .*done\.md/],
    [
      'the spec was deleted',
      (files) => [both(files), files.remove('spec.md')],
      /spec\.md was deleted; ralph restored it/,
    ],
    [
      'the spec was emptied',
      (files) => [both(files), files.write('spec.md', '\n')],
      /spec\.md was emptied; ralph restored it/,
    ],
    ['there are no tasks', ends, /tasks\.json is missing/],
    ['the list is empty', (files) => [ends(files), files.write('tasks.json', '{"tasks": []}')], /the list is empty/],
    ['it is no JSON', (files) => [ends(files), files.write('tasks.json', '{')], /tasks\.json: it is not valid JSON/],
    [
      'a task depends on nothing that is',
      (files) => [
        ends(files),
        files.write('tasks.json', '{"tasks": [{"id": "T1", "title": "x", "dependencies": ["T9"]}]}'),
      ],
      /T9/,
    ],
  ])('%s', async (_, first, problem) => {
    const project = await makeProject()
    const spec = project.read('spec.md')
    const { goes, prompts, said, list } = hold(project, 1, [first, both])
    await list
    expect(goes).toEqual(['1.1', '1.2'])
    expect(said[1]).toMatch(problem)
    expect(prompts[1]).toMatch(problem)
    expect(prompts[1]).toContain(prompts[0]?.trim())
    expect(said.at(-1)).toBe('Asking the agent once more. This is still round 1 of 1.')
    expect(project.read('spec.md')).toBe(spec)
  })

  test('every problem of the list is reported', async () => {
    const project = await makeProject()
    const wrong = '{"tasks": [{"id": "T1"}, {"id": "T2", "title": "x", "attempts": -1}]}'
    const { said, list } = hold(project, 1, [(files) => [ends(files), files.write('tasks.json', wrong)], both])
    await list
    expect(said.slice(1, 3).join(' ')).toMatch(/T1: title .* T2: attempts /)
  })

  test('and no more: the interview stops with what to do', async () => {
    const project = await makeProject()
    const { goes, list } = hold(project, 3, [ends, writesTasks, writesTasks, both])
    await expect(list).rejects.toMatchObject({
      code: 'interview-failed',
      message: expect.stringMatching(/^Round 2 of 3 .*done\.md\. .*ralph interview shop$/),
    })
    expect(goes).toEqual(['1.1', '2.1', '2.2'])
  })
})

test('an old done.md does not end a round', async () => {
  const project = await makeProject()
  project.write('done.md', 'Yesterday.')
  const { goes, list } = hold(project, 1, [writesTasks, both])
  await list
  expect(goes).toEqual(['1.1', '1.2'])
})

test('the next round must not lose what the last one amended', async () => {
  const project = await makeProject()
  const amends: Play = (files) => [ends(files), files.write('spec.md', 'Amended.')]
  await hold(project, 2, [amends, (files) => [both(files), files.remove('spec.md')], both]).list
  expect(project.read('spec.md')).toBe('Amended.')
})

test('tasks that nobody has started may be overwritten, even a broken list', async () => {
  for (const text of [TASKS, '{broken']) {
    const project = await makeProject()
    project.write('tasks.json', text)
    expect((await hold(project, 1, [both]).list)?.tasks).toHaveLength(1)
  }
})

test.each<[story: string, name: string, text: string, found: string]>([
  ['a completed task', 'tasks.json', '{"tasks": [{"id": "T7", "title": "x", "status": "completed"}]}', 'T7'],
  ['an attempted task', 'tasks.json', '{"tasks": [{"id": "T8", "title": "x", "attempts": 1}]}', 'T8'],
  ['a line of progress', 'state.json', '[{"iteration": 1, "task_id": "T1", "status": "completed"}]', 'state.json'],
])('%s keeps the interview from starting', async (_, name, text, found) => {
  const project = await makeProject()
  project.write(name, text)
  const { goes, list } = hold(project, 1, [both])
  await expect(list).rejects.toThrow(found)
  await expect(list).rejects.toThrow('ralph execute shop')
  expect(goes).toEqual([])
  expect(project.read(name)).toBe(text)
})

test('without a spec there is nothing to ask about', async () => {
  const project = await makeProject()
  project.remove('spec.md')
  await expect(hold(project, 1, []).list).rejects.toThrow('ralph init shop')
})

test('once stopped, it neither continues nor tries again', async () => {
  const project = await makeProject()
  const stop = new AbortController()
  const { goes, list } = hold(project, 3, [ends, () => stop.abort()], stop.signal)
  expect(await list).toBeUndefined()
  expect(goes).toEqual(['1.1', '2.1'])
})
