import { linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import { canMount, smallDisk } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import { findVault, isTaskId, taskIdOf } from './place.ts'
import { errorOf, INTO, openVault, type Vault, work } from './vault.test-support.ts'

const started = { task_file: 'Needs_Action/a.md' }

test.each([
  ['a.md', 'a'],
  ['a.tar.gz', 'a.tar'],
  ['README', 'README'],
  ['Needs_Action/with space.md', 'with space'],
  ['.hidden', '.hidden'],
])('the id of %s is %s', (file, id) => {
  expect(taskIdOf(file)).toBe(id)
})

test.each([
  ['a', true],
  ['-rf', true],
  ['$(reboot)', true],
  ['🦉', true],
  ['', false],
  ['.', false],
  ['..', false],
  ['.hook', false],
  ['a/b', false],
  ['a\\b', false],
  ['a\nb', false],
  ['a\0', false],
  ['session.1', false],
  ['\ud800', false],
  ['x'.repeat(200), true],
  ['x'.repeat(201), false],
  ['🦉'.repeat(51), false],
])('whether %j can name a task: %s', (id, can) => {
  expect(isTaskId(id)).toBe(can)
})

test('a vault is found from anywhere below it', () => {
  const { path } = openVault()
  const settings = { stateDir: 'Ralph_State' }
  mkdirSync(join(path, 'Projects/deep'), { recursive: true })
  expect(findVault(join(path, 'Projects/deep'), settings)).toBe(path)
  expect(findVault(path, settings)).toBe(path)
  expect(findVault('/', settings)).toBeUndefined()
})

describe('a task file that cannot be worked on is refused', () => {
  const make = (change: (path: string, vault: Vault) => void) => (vault: Vault) => {
    rmSync(join(vault.path, 'Needs_Action/a.md'))
    change(join(vault.path, 'Needs_Action/a.md'), vault)
  }

  test.each<[what: string, make: (vault: Vault) => void, says: string]>([
    ['missing', make(() => {}), 'Task file not found: '],
    [
      'in no folder',
      make((_, { path }) => rmSync(join(path, 'Needs_Action'), { recursive: true })),
      'Its folder does not',
    ],
    ['a folder', make((path) => mkdirSync(path)), 'is a folder. A task is one file'],
    ['a link out of the vault', make((path) => symlinkSync('/etc/hostname', path)), 'is a link. Use the file itself'],
    [
      'a link within the vault',
      make((path, vault) => {
        vault.put('other.md')
        symlinkSync('../other.md', path)
      }),
      'is a link.',
    ],
    ['a link to nothing', make((path) => symlinkSync('nowhere', path)), 'is a link.'],
    [
      'of 50 MB',
      make((path) => {
        writeFileSync(path, '')
        truncateSync(path, 50 << 20)
      }),
      'is 50 MB; the limit is 1 MB.',
    ],
    ['binary', make((path) => writeFileSync(path, Buffer.from([0x89, 0x50, 0x4e, 0xff, 0xfe]))), 'is not UTF-8 text'],
    ['of null bytes', make((path) => writeFileSync(path, 'text\0text')), 'is not UTF-8 text'],
    ['empty', make((path) => writeFileSync(path, '')), 'is empty. Write the task into it'],
    ['there, but also done', (vault) => vault.put('Done/a.md'), 'Done/a.md already exists, so it would count as done'],
    [
      'there, but a link in Done has its name',
      (vault) => {
        vault.put('Done/b.md')
        symlinkSync('b.md', join(vault.path, 'Done/a.md'))
      },
      'already exists',
    ],
  ])('%s', async (_, change, says) => {
    const vault = openVault()
    change(vault)
    const error = await errorOf(vault.ralph.startTask(started))
    expect(error.message).toContain(says)
    expect(['input-invalid', 'task-unknown']).toContain(error.code)
    expect(vault.has('Ralph_State/a.json')).toBe(false)
    expect(await vault.ralph.listTasks()).toEqual([])
  })

  test.each([
    ['../outside.md', 'is outside the vault'],
    ['Needs_Action/../../outside.md', 'is outside the vault'],
    ['/etc/hostname', 'is outside the vault'],
    ['linked/x.md', 'is outside the vault'],
    ['Needs_Action/a.md/b.md', 'Task file not found'],
    [`Needs_Action/${'n'.repeat(300)}.md`, 'Task file not found'],
    ['', 'must be the path of a file'],
    ['a\0.md', 'must be the path of a file'],
    ['Needs_Action/.hidden', 'has an invalid name'],
    ['Needs_Action/session.x.md', 'has an invalid name'],
    [`Needs_Action/${'n'.repeat(247)}.md`, 'Use one of at most 200 bytes'],
    [`Needs_Action/x.${'e'.repeat(240)}`, 'has an invalid name'],
    ['Done/x.md', 'is in Done, where no task can start. Move it to Needs_Action first'],
    ['Failed/x.md', 'is in Failed'],
    ['Pending_Approval/x.md', 'is in Pending_Approval'],
    ['Ralph_State/x.md', 'is in Ralph_State'],
  ])('%j', async (task_file, says) => {
    const vault = openVault()
    writeFileSync(join(vault.path, '../outside.md'), 'x')
    mkdirSync(join(vault.path, '../elsewhere'))
    writeFileSync(join(vault.path, '../elsewhere/x.md'), 'x')
    symlinkSync('../elsewhere', join(vault.path, 'linked'))
    if (says.includes('name') || says.includes('200') || says.startsWith('is in ')) vault.put(task_file)
    expect((await errorOf(vault.ralph.startTask({ task_file }))).message).toContain(says)
  })

  test('a socket', async () => {
    const vault = openVault([])
    const server = createServer().listen(join(vault.path, 'Needs_Action/a.md'))
    await new Promise((listening) => server.once('listening', listening))
    expect((await errorOf(vault.ralph.startTask(started))).message).toContain('is not a regular file')
    server.close()
  })
})

test('a folder next to the done folder is not the done folder', async () => {
  const vault = openVault([], { doneFolder: 'Archive/Done' })
  vault.put('Archive/Inbox/a.md')
  vault.put('Archive/Done/old.md')
  expect((await vault.ralph.startTask({ task_file: 'Archive/Inbox/a.md' })).task_id).toBe('a')
  expect((await errorOf(vault.ralph.startTask({ task_file: 'Archive/Done/old.md' }))).message).toContain(
    'is in Archive/Done,',
  )
})

describe('a name of any kind', () => {
  test.each([
    'with space.md',
    ' leading and trailing .md',
    '🦉 owl — Übung.md',
    'it\'s "quoted".md',
    '$(touch pwned) `id` ; rm -rf.md',
    '-rf.md',
    '--help.md',
    'a*?[b].md',
    'no-ending',
    'many.dots.in.it.md',
    '%s %d.md',
    '__proto__.md',
    'constructor.md',
    `${'n'.repeat(200)}.md`,
    `${'ü'.repeat(100)}.md`,
  ])('%s is worked on to its end', async (file) => {
    const vault = openVault([file])
    const { task_id, state_file } = await vault.ralph.startTask({ task_file: join(vault.path, 'Needs_Action', file) })
    expect(vault.has(state_file)).toBe(true)
    await vault.ralph.incrementIteration(work(task_id))
    vault.move(`Needs_Action/${file}`, `Pending_Approval/${file}`)
    await vault.ralph.incrementIteration(work(task_id))
    await vault.ralph.approveTask(task_id)
    vault.move(`Needs_Action/${file}`, `Done/${file}`)
    expect(await vault.ralph.checkTaskComplete(task_id)).toBe(true)
    expect(await vault.ralph.completeTask(task_id)).toMatchObject({ task_id, status: 'completed' })
    expect(vault.written(task_id)).toMatchObject({ task_id, iteration: 2 })
    expect(vault.names('.')).toEqual(['Done', 'Needs_Action', 'Pending_Approval', 'Ralph_State'])
  })

  test('can be rejected even at maximum length', async () => {
    const file = `${'n'.repeat(200)}.${'e'.repeat(29)}`
    const vault = openVault([file])
    const { task_id } = await vault.ralph.startTask({ task_file: `Needs_Action/${file}` })
    vault.move(`Needs_Action/${file}`, `Pending_Approval/${file}`)
    await vault.ralph.incrementIteration(work(task_id))
    await vault.ralph.rejectTask(task_id)
    expect(vault.names('Failed')).toEqual([file, `${file}.why.md`])
  })
})

describe('two files with one id', () => {
  test.each([
    ['in different folders', 'Inbox/a.md'],
    ['with different endings', 'Needs_Action/a.txt'],
  ])('%s are not worked on at the same time', async (_, other) => {
    const vault = openVault()
    vault.put(other)
    await vault.ralph.startTask(started)
    const error = await errorOf(vault.ralph.startTask({ task_file: other }))
    expect(error).toMatchObject({ code: 'task-state' })
    expect(error.message).toContain(`for Needs_Action/a.md. Names must be unique: rename ${other}`)
  })

  test('starting the same file twice says that it is in progress', async () => {
    const vault = openVault()
    await vault.ralph.startTask(started)
    expect((await errorOf(vault.open().startTask(started))).message).toBe(
      'Task a is already in progress: see Ralph_State/a.json.',
    )
  })

  test('the other one in another folder is not taken for it when it is done', async () => {
    const vault = openVault()
    vault.put('Inbox/a.md')
    await vault.ralph.startTask(started)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
    expect(vault.has('Inbox/a.md')).toBe(true)
  })
})

describe('a file that disappears while it is worked on', () => {
  const why = (vault: Vault) => vault.ralph.getTaskState('a').then(({ status }) => status)

  test('fails its task when it is deleted', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    rmSync(join(vault.path, 'Needs_Action/a.md'))
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({
      iteration: 2,
      status: 'failed',
      should_continue: false,
    })
    expect(await why(vault)).toBe('failed')
    expect(await sentenceOf(vault)).toBe('Cancelled by ralph, since a.md is no longer in the vault.')
  })

  test('fails its task when it is renamed, with its new name', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    vault.move('Needs_Action/a.md', 'Inbox/b.md')
    expect(await vault.ralph.incrementIteration(work('a'))).toMatchObject({ status: 'failed' })
    expect(await sentenceOf(vault)).toBe('Cancelled by ralph, since a.md was renamed to Inbox/b.md.')
  })

  test('is still open in any other folder of the vault', async () => {
    const vault = openVault()
    await INTO.initializing(vault, 'a')
    vault.move('Needs_Action/a.md', 'In_Progress/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('in_progress')
  })

  test('is not done if only a link is in Done', async () => {
    const vault = openVault()
    await INTO.initializing(vault, 'a')
    symlinkSync('../Needs_Action/a.md', join(vault.path, 'Done/a.md'))
    expect(await vault.ralph.checkTaskComplete('a')).toBe(false)
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('in_progress')
  })

  test('is done if it is in both places, because it was copied', async () => {
    const vault = openVault()
    await INTO.initializing(vault, 'a')
    linkSync(join(vault.path, 'Needs_Action/a.md'), join(vault.path, 'Done/a.md'))
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
  })

  async function sentenceOf(vault: Vault): Promise<string> {
    const store = openStore(vault.home, Date.now)
    const { next } = await store.load((await store.tasks.load(vault.path, 'a'))?.loop ?? '')
    await store.close()
    return next.kind === 'halt' ? next.sentence : next.kind
  }
})

describe.each(['Done', 'Ralph_State'])('the folder %s', (folder) => {
  test('is created if missing', async () => {
    const vault = openVault()
    await vault.ralph.startTask(started)
    expect(vault.names('.')).toContain(folder)
  })

  test.each<[what: string, make: (path: string) => void]>([
    ['a file', (path) => writeFileSync(path, '')],
    ['a link out of the vault', (path) => symlinkSync('/tmp', path)],
    ['a link to the vault itself', (path) => symlinkSync('.', path)],
    ['a link to nothing', (path) => symlinkSync('nowhere', path)],
  ])('that is %s is refused', async (_, make) => {
    const vault = openVault()
    make(join(vault.path, folder))
    const error = await errorOf(vault.ralph.startTask(started))
    expect(error).toBeInstanceOf(RalphError)
    expect(error.message).toContain(join(vault.path, folder))
    expect(await vault.ralph.listTasks()).toEqual([])
  })

  test('may be a link within the vault', async () => {
    const vault = openVault()
    mkdirSync(join(vault.path, 'Real'))
    symlinkSync('Real', join(vault.path, folder))
    await vault.ralph.startTask(started)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect((await vault.ralph.incrementIteration(work('a'))).status).toBe('completed')
  })
})

describe('Done, while a task is worked on', () => {
  test('may go away and come back', async () => {
    const vault = openVault()
    await INTO.in_progress(vault, 'a')
    rmSync(join(vault.path, 'Done'), { recursive: true })
    expect(await vault.ralph.checkTaskComplete('a')).toBe(false)
    vault.move('Needs_Action/a.md', 'Done/a.md')
    expect(await vault.ralph.checkTaskComplete('a')).toBe(true)
  })
})

describe.skipIf(!canMount)('a vault on a disk that is read-only (needs mount)', () => {
  test('starts no task', async () => {
    const disk = smallDisk('size=8m')
    const vault = openVault(['a.md'], {}, disk.path)
    for (const folder of ['Done', 'Ralph_State']) mkdirSync(join(vault.path, folder))
    disk.remount('ro')
    expect(await errorOf(vault.ralph.startTask(started))).toMatchObject({ name: 'StateFileError' })
    expect(await vault.ralph.listTasks()).toEqual([])
  })

  test('counts no iteration, so that the call can be repeated, but lets a task end, with a note', async () => {
    const disk = smallDisk('size=8m')
    const vault = openVault(['a.md'], {}, disk.path)
    await INTO.initializing(vault, 'a')
    disk.remount('ro')
    const error = await errorOf(vault.ralph.incrementIteration(work('a')))
    expect(error).toMatchObject({ name: 'StateFileError', actionRequired: 'check_permissions' })
    expect(error.message).toContain('Ralph_State/a.json cannot be written, so nothing was counted or changed.')
    expect(await vault.ralph.getTaskState('a')).toMatchObject({ status: 'initializing', iterations_history: [] })
    expect(vault.notes).toEqual([])
    expect(await vault.ralph.handleTimeout('a')).toMatchObject({ status: 'timeout' })
    expect(vault.notes[0]).toMatch(/Ralph_State\/\S+ cannot be (?:written|cleared)\. Make /)
    expect(vault.written('a').status).toBe('initializing')
    disk.remount('rw')
    expect(await vault.ralph.getTaskState('a')).toEqual(vault.written('a'))
    expect(vault.names('Ralph_State/.hook')).toEqual([])
  })
})
