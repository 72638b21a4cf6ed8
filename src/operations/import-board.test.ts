import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { BOARD_DEFAULTS } from '../formats/board-task.ts'
import { bytesOf, type ForeignBoard, foreignBoard } from '../host/vibe-kanban.test-support.ts'
import { openPlace } from './place.test-support.ts'

/** Every file of the folder, byte for byte, and when it was written. */
function stateOf({ path }: ForeignBoard): unknown {
  const folder = dirname(path)
  return readdirSync(folder)
    .sort()
    .map((name) => [name, statSync(join(folder, name)).mtimeMs, readFileSync(join(folder, name)).toString('base64')])
}

describe('a vibe-kanban database', () => {
  test('becomes tasks and groups on the board', async () => {
    const place = openPlace()
    const foreign = foreignBoard('newest')
    const project = foreign.add('projects', { name: 'Shop' })
    const project_id = bytesOf(project)
    const repo = foreign.add('repos', { path: place.cwd, name: 'shop', display_name: 'shop' })
    foreign.add('project_repos', { project_id, repo_id: bytesOf(repo) })
    const parent = foreign.add('tasks', {
      project_id,
      title: 'Log in',
      description: 'With a\nlink.',
      status: 'inreview',
    })
    const workspace = foreign.add('workspaces', { task_id: bytesOf(parent), branch: 'vk/1' })
    const child = foreign.add('tasks', {
      project_id,
      title: 'Log out',
      status: 'todo',
      parent_workspace_id: bytesOf(workspace),
    })
    expect(await place.run('import_board', { file: foreign.path })).toEqual({
      file: foreign.path,
      groups: 1,
      tasks: 2,
      known: 0,
      byStatus: { todo: 1, 'in-progress': 0, 'in-review': 1, done: 0, cancelled: 0 },
      notes: [],
    })
    expect(await place.run('list_groups', {})).toMatchObject({
      groups: [{ project_id: project, name: 'Shop', repo: place.cwd }],
    })
    expect(await place.run('get_task', { task_id: parent })).toMatchObject({
      ...BOARD_DEFAULTS,
      project_id: project,
      title: 'Log in',
      description: 'With a\nlink.',
      status: 'in-review',
      created_by: 'import',
      created_at: '2026-01-05T09:00:00.123Z',
      updated_at: '2026-01-06T10:00:00.000Z',
    })
    expect(await place.run('get_task', { task_id: child })).toMatchObject({ status: 'todo', depends_on: [parent] })
  })

  test('of a fork keeps its loop fields', async () => {
    const place = openPlace()
    const foreign = foreignBoard('fork')
    const project_id = bytesOf(foreign.add('projects', { name: 'Shop' }))
    const task = (fields: object) => foreign.add('tasks', { project_id, title: 'x', status: 'todo', ...fields })
    const looped = task({ use_ralph_wiggum: 1, ralph_max_iterations: 4, ralph_completion_promise: 'ALL DONE' })
    const plain = task({ ralph_max_iterations: 2n ** 60n })
    await place.run('import_board', { file: foreign.path })
    expect(await place.run('get_task', { task_id: looped })).toMatchObject({
      use_ralph_wiggum: true,
      ralph_max_iterations: 4,
      ralph_completion_promise: 'ALL DONE',
    })
    expect(await place.run('get_task', { task_id: plain })).toMatchObject({
      use_ralph_wiggum: false,
      ralph_max_iterations: 10,
      ralph_completion_promise: 'COMPLETE',
    })
  })

  test('of the first version has its folders in the projects', async () => {
    const place = openPlace()
    const foreign = foreignBoard('first')
    const project_id = bytesOf(foreign.add('projects', { name: 'Shop', git_repo_path: '/gone/shop' }))
    const parent = foreign.add('tasks', { project_id, title: 'One', status: 'cancelled' })
    const attempt = foreign.add('task_attempts', { task_id: bytesOf(parent) })
    const child = foreign.add('tasks', {
      project_id,
      title: 'Two',
      status: 'done',
      parent_task_attempt: bytesOf(attempt),
    })
    const { notes } = await place.run('import_board', { file: foreign.path })
    expect(notes).toEqual(['Shop: folder not found: /gone/shop. Set it before you start a task.'])
    // A cancelled dependency would be waited for forever.
    expect(await place.run('get_task', { task_id: child })).toMatchObject({ status: 'done', depends_on: [] })
  })

  test('is imported once; local changes stay', async () => {
    const place = openPlace()
    const foreign = foreignBoard('first')
    const project_id = bytesOf(foreign.add('projects', { name: 'Shop', git_repo_path: place.cwd }))
    const task_id = foreign.add('tasks', { project_id, title: 'One', status: 'todo' })
    expect(await place.run('import_board', { file: foreign.path, dry_run: true })).toMatchObject({
      groups: 1,
      tasks: 1,
    })
    expect((await place.run('list_tasks', {})).tasks).toEqual([])
    await place.run('import_board', { file: foreign.path })
    await place.run('update_task', { task_id, title: 'Mine' })
    foreign.add('tasks', { project_id, title: 'Two', status: 'todo' })
    expect(await place.run('import_board', { file: foreign.path })).toMatchObject({ groups: 0, tasks: 1, known: 1 })
    expect((await place.run('list_tasks', {})).tasks.map(({ title }) => title).sort()).toEqual(['Mine', 'Two'])
  })

  test('with odd titles, times and links is still imported', async () => {
    const place = openPlace()
    const foreign = foreignBoard('newest')
    const project_id = bytesOf(foreign.add('projects', { name: ' Many\nrepos ' }))
    for (const path of [place.cwd, '/gone'])
      foreign.add('project_repos', {
        project_id,
        repo_id: bytesOf(foreign.add('repos', { path, name: path, display_name: path })),
      })
    const long = `${'long '.repeat(150)}title`
    const ids = [
      foreign.add('tasks', { project_id, title: long, description: 'More.', status: 'constructor' }),
      foreign.add('tasks', {
        project_id: bytesOf(crypto.randomUUID()),
        title: ' \n ',
        status: 'todo',
        created_at: 'then',
      }),
    ]
    const { notes } = await place.run('import_board', { file: foreign.path })
    expect(notes).toEqual([
      `Many repos has 2 repositories; its tasks work in ${place.cwd}. To use another, set \`repo\` on the task.`,
      'Unknown status "constructor": its tasks become todo.',
    ])
    const [first, second] = await Promise.all(ids.map((task_id) => place.run('get_task', { task_id })))
    expect(first).toMatchObject({ status: 'todo', description: `${long}\n\nMore.` })
    expect(first?.title).toHaveLength(500)
    expect(second).toMatchObject({ title: 'Untitled', description: null, project_id: null })
  })

  test.each(['delete', 'wal'] as const)('with a %s journal is only read, even while it is in use', async (journal) => {
    const place = openPlace()
    const foreign = foreignBoard('fork', journal)
    const project_id = bytesOf(foreign.add('projects', { name: 'Shop' }))
    foreign.add('tasks', { project_id, title: 'One', status: 'todo' })
    const atRest = stateOf(foreign)
    expect(await place.run('import_board', { file: foreign.path })).toMatchObject({ tasks: 1 })
    expect(stateOf(foreign)).toEqual(atRest)
    const database = foreign.keepOpen()
    onTestFinished(() => database.close())
    database.prepare('UPDATE tasks SET title = ?').run('In the log')
    database
      .prepare('INSERT INTO tasks (id, project_id, title, status) VALUES (?, ?, ?, ?)')
      .run(bytesOf(crypto.randomUUID()), project_id, 'Two', 'done')
    const inUse = stateOf(foreign)
    expect(await place.run('import_board', { file: foreign.path })).toMatchObject({ tasks: 1, known: 1 })
    expect(stateOf(foreign)).toEqual(inUse)
  })

  test('is found where vibe-kanban keeps it', async () => {
    const place = openPlace()
    const folder = join(place.context.env.HOME ?? '', '.local/share/vibe-kanban')
    await expect(place.run('import_board', { file: 'vibe-kanban' })).rejects.toMatchObject({
      code: 'input-invalid',
      message: expect.stringContaining(`database found at ${join(folder, 'db.v2.sqlite')}, `),
    })
    mkdirSync(folder, { recursive: true })
    renameSync(foreignBoard('newest').path, join(folder, 'db.sqlite'))
    expect(await place.run('import_board', { file: 'vibe-kanban' })).toMatchObject({ file: join(folder, 'db.sqlite') })
  })

  test.each<[what: string, make: (path: string) => unknown, says: RegExp]>([
    ['a text', (path) => writeFileSync(path, 'SQLite'), /is not a SQLite database/],
    ['nothing', () => {}, /is not a SQLite database/],
    ['a folder', (path) => mkdirSync(path), /is not a SQLite database/],
    [
      'another database',
      (path) => new DatabaseSync(path).exec('CREATE TABLE a (b)'),
      /does not have the "projects" and "tasks" tables/,
    ],
    [
      'one with other tasks',
      (path) =>
        new DatabaseSync(path).exec(
          'CREATE TABLE projects (id); CREATE TABLE tasks (id); INSERT INTO tasks VALUES (1)',
        ),
      /does not have the "projects" and "tasks" tables/,
    ],
    [
      'a damaged one',
      (path) => writeFileSync(path, Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(5_000, 7)])),
      /cannot be read: /,
    ],
  ])('is not %s', async (_, make, says) => {
    const place = openPlace()
    make(join(place.cwd, 'x.sqlite'))
    await expect(place.run('import_board', { file: 'x.sqlite' })).rejects.toMatchObject({
      name: 'RalphError',
      message: expect.stringMatching(says),
    })
  })
})
