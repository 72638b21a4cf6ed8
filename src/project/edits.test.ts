import { describe, expect, test } from 'vitest'
import { type Obstacle, printObstacles } from '../formats/obstacles.ts'
import { type Entry, printProgress } from '../formats/progress.ts'
import { printTasks, type Task } from '../formats/tasks.ts'
import { applyEdits, type Edits, type Faces, readEdits } from './edits.ts'
import type { ProjectRecord } from './record.ts'

function task(id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    title: `Title of ${id}`,
    description: 'Do it.',
    status: 'pending',
    dependencies: [],
    attempts: 0,
    max_attempts: 3,
    blocked: false,
    ...more,
  }
}

function entry(task_id: string, iteration: number, more: Partial<Entry> = {}): Entry {
  return { iteration, task_id, status: 'attempted', summary: 'Tried.', files_modified: [], obstacles: [], ...more }
}

function obstacle(id: string, message: string, more: Partial<Obstacle> = {}): Obstacle {
  return { id, task_id: 'T1', message, resolved: false, iteration: 1, ...more }
}

const record: ProjectRecord = {
  spec: '# The spec\n',
  tasks: {
    project_name: 'shop',
    version: 1,
    tasks: [task('T1', { status: 'in_progress', attempts: 1, verify: ['ls a'] }), task('T2'), task('T3')],
  },
  entries: [entry('T1', 1)],
  obstacles: [obstacle('O1', 'No network'), obstacle('O2', 'No disk', { resolved: true })],
  iteration: 1,
  open: [],
  loops: [],
  trees: {},
  proofs: {},
  workedMs: 0,
}

type Change = {
  tasks?: (tasks: Task[]) => Task[]
  entries?: (entries: Entry[]) => Entry[]
  obstacles?: (obstacles: Obstacle[]) => Obstacle[]
} & Faces

/** The files as an agent leaves them that changes them like this. */
function facesAfter({ tasks, entries, obstacles, ...faces }: Change): Faces {
  const copy = structuredClone(record)
  return {
    'spec.md': record.spec,
    'tasks.json': printTasks({ ...copy.tasks, tasks: tasks?.(copy.tasks.tasks) ?? copy.tasks.tasks }),
    'state.json': printProgress(entries?.(copy.entries) ?? copy.entries),
    'obstacles.json': printObstacles(obstacles?.(copy.obstacles) ?? copy.obstacles),
    ...faces,
  }
}

/** Reads the turn of an agent that works on T1, on the files themselves. */
function edited(change: Change): Edits {
  return readEdits(record, facesAfter(change), { task: 'T1', shared: true })
}

/** The same on a copy. */
function editedCopy(change: Change): Edits {
  return readEdits(record, facesAfter(change), { task: 'T1', shared: false })
}

/** Changes one task. */
function having(id: string, change: Partial<Task>): Pick<Change, 'tasks'> {
  return { tasks: (tasks) => tasks.map((one) => (one.id === id ? { ...one, ...change } : one)) }
}

const nothing: Edits = { says: 'open', obstacles: [], resolved: [], added: [], notes: [], broken: [] }

test('unchanged files say nothing', () => {
  expect(edited({})).toEqual(nothing)
  expect(editedCopy({})).toEqual(nothing)
})

describe('an agent, about its own task,', () => {
  test.each<[fact: string, change: Partial<Task>, says: Edits['says']]>([
    ['says that it is completed', { status: 'completed' }, 'completed'],
    ['says by the flag that it is blocked', { blocked: true }, 'blocked'],
    ['says by the status that it is blocked', { status: 'blocked' }, 'blocked'],
    ['cannot complete what it calls blocked', { status: 'completed', blocked: true }, 'blocked'],
    ['may call it pending', { status: 'pending' }, 'open'],
    ['counts attempts for nothing', { attempts: 0 }, 'open'],
  ])('%s', (_, change, says) => {
    expect(edited(having('T1', change))).toEqual({ ...nothing, says })
    expect(editedCopy(having('T1', change))).toEqual({ ...nothing, says })
  })

  test.each<[field: string, change: Partial<Task>]>([
    ['max_attempts', { max_attempts: 99 }],
    ['verify', { verify: ['true'] }],
    ['the title', { title: 'Something easier' }],
    ['the description', { description: '' }],
    ['the dependencies', { dependencies: ['T2'] }],
  ])('cannot change %s', (_, change) => {
    const put = 'tasks.json: T1 was changed; ralph restored it.'
    expect(edited(having('T1', change)).notes).toEqual([put])
    expect(editedCopy(having('T1', change)).notes).toEqual([put])
  })

  test('cannot remove its check', () => {
    const without = edited({
      tasks: ([first, ...more]) => [{ ...first, verify: undefined } as unknown as Task, ...more],
    })
    expect(without.notes).toEqual(['tasks.json: T1 was changed; ralph restored it.'])
  })

  test('can change the checks and the status in one edit, and only the status counts', () => {
    const both = edited(having('T1', { status: 'completed', verify: ['true'] }))
    expect(both).toMatchObject({ says: 'completed', notes: [expect.stringContaining('T1 was changed')] })
  })
})

describe('an agent, about other tasks,', () => {
  test.each<[fact: string, change: Pick<Change, 'tasks'>, note: string]>([
    ['cannot complete one', having('T2', { status: 'completed' }), 'T2 was marked as completed'],
    ['cannot block one', having('T2', { blocked: true, status: 'blocked' }), 'T2 was changed'],
    ['cannot give one more attempts', having('T3', { max_attempts: 9 }), 'T3 was changed'],
    ['cannot remove one', { tasks: ([first]) => [first as Task] }, 'T2 was removed, T3 was removed'],
    ['cannot remove its own', { tasks: (tasks) => tasks.slice(1) }, 'T1 was removed'],
  ])('%s', (_, change, note) => {
    expect(edited(change)).toEqual({ ...nothing, notes: [`tasks.json: ${note}; ralph restored it.`] })
  })

  test.each<[fact: string, change: Pick<Change, 'tasks'>, notes: number]>([
    ['its copy may lack one that is newer', { tasks: (tasks) => tasks.slice(0, 2) }, 0],
    ['its copy may have an older state', having('T2', { attempts: 1, status: 'in_progress' }), 0],
    ['its copy may have an older block', having('T2', { blocked: true, status: 'blocked' }), 0],
    ['its copy does not complete any', having('T2', { status: 'completed' }), 1],
    ['its copy must have its own', { tasks: (tasks) => tasks.slice(1) }, 1],
  ])('%s', (_, change, notes) => {
    expect(editedCopy(change)).toMatchObject({ ...nothing, notes: Array(notes).fill(expect.any(String)) })
  })

  test('names five that were changed, and counts the rest', () => {
    const tasks = Array.from({ length: 9 }, (_, index) => task(`T${index + 1}`))
    const many = { ...record, tasks: { ...record.tasks, tasks } }
    const all = printTasks({ ...many.tasks, tasks: tasks.map((one) => ({ ...one, status: 'completed' })) })
    const { notes, says } = readEdits(many, { ...facesAfter({}), 'tasks.json': all }, { task: 'T1', shared: true })
    expect(says).toBe('completed')
    expect(notes[0]).toMatch(/^tasks\.json: T2 was marked as completed, .* and 3 more; ralph restored it\.$/)
  })
})

describe('tasks that an agent adds', () => {
  test('have no checks, which is reported', () => {
    const { added, notes } = edited({ tasks: (tasks) => [...tasks, task('T4', { verify: ['rm -rf x'] })] })
    expect(added).toEqual([task('T4')])
    expect(notes).toEqual(['tasks.json: the checks of T4 were dropped: only people may add checks.'])
  })

  test.each<Partial<Task>>([{ require: 'kept' }, { protect: ['a'] }, { may_change: ['**'] }])(
    'say nothing about their proof: %j',
    (said) => {
      const { added, notes } = edited({ tasks: (tasks) => [...tasks, task('T4', said)] })
      expect(added).toEqual([task('T4')])
      expect(notes).toEqual(['tasks.json: the checks of T4 were dropped: only people may add checks.'])
    },
  )

  test.each<[fact: string, added: Task, taken: Task]>([
    ['are taken', task('T4', { dependencies: ['T1'] }), task('T4', { dependencies: ['T1'] })],
    ['are not completed', task('T4', { status: 'completed' }), task('T4')],
    ['are not in progress', task('T4', { status: 'in_progress', attempts: 2 }), task('T4')],
    [
      'may be blocked',
      task('T4', { blocked: true, status: 'blocked' }),
      task('T4', { blocked: true, status: 'blocked' }),
    ],
  ])('%s', (_, added, taken) => {
    const change: Change = { tasks: (tasks) => [...tasks, added] }
    expect(edited(change)).toEqual({ ...nothing, added: [taken] })
    expect(editedCopy(change)).toEqual({ ...nothing, added: [taken] })
    const { record: after } = applyEdits(record, edited(change), { task: 'T1', iteration: 2 })
    expect(after.tasks.tasks).toEqual([...record.tasks.tasks, taken])
  })

  test('are not added twice', () => {
    const { record: once } = applyEdits(record, { ...nothing, added: [task('T4')] }, { task: 'T1', iteration: 2 })
    const { record: twice } = applyEdits(once, { ...nothing, added: [task('T4')] }, { task: 'T2', iteration: 3 })
    expect(twice.tasks.tasks.map(({ id }) => id)).toEqual(['T1', 'T2', 'T3', 'T4'])
  })

  test('that form a cycle break the whole file', () => {
    const circle: Change = {
      tasks: (tasks) => [...tasks, task('T4', { dependencies: ['T5'] }), task('T5', { dependencies: ['T4'] })],
    }
    expect(edited(circle)).toEqual({
      ...nothing,
      broken: ['tasks.json'],
      notes: [
        expect.stringMatching(/^tasks\.json was broken: these tasks form a dependency cycle: .* ralph restored it\.$/),
      ],
    })
  })
})

describe('an agent, in state.json,', () => {
  const own = entry('T1', 2, { status: 'completed', summary: 'Did it.' })

  test.each<[fact: string, entries: (entries: Entry[]) => Entry[], notes: string[]]>([
    ['may append its entry', (old) => [...old, own], []],
    ['may put it first', (old) => [own, ...old], []],
    ['is taken at its last one', (old) => [...old, entry('T1', 2), own], []],
    [
      'cannot remove old ones',
      () => [own],
      ['state.json: older entries were changed or removed; ralph restored them.'],
    ],
    [
      'cannot rewrite old ones',
      ([first]) => [{ ...(first as Entry), task_id: 'T1', summary: 'It was fine.' }, own],
      ['state.json: older entries were changed or removed; ralph restored them.'],
    ],
    [
      'cannot write entries of other tasks',
      (old) => [...old, own, entry('T2', 3)],
      ['state.json: entries for T2 were added by an agent that worked on T1; ralph dropped them.'],
    ],
  ])('%s', (_, entries, notes) => {
    expect(edited({ entries })).toEqual({ ...nothing, entry: own, notes })
    expect(editedCopy({ entries })).toEqual({ ...nothing, entry: own })
  })

  test('may forget its entry', () => {
    expect(edited({}).entry).toBeUndefined()
  })

  test('has no entry when nobody had a turn', () => {
    const faces = facesAfter({ entries: (old) => [...old, own] })
    expect(readEdits(record, faces, { shared: true })).toEqual({
      ...nothing,
      notes: ['state.json: entries for T1 were added by an agent that worked on none; ralph dropped them.'],
    })
  })
})

describe('an agent, in obstacles.json,', () => {
  test.each<[fact: string, obstacles: (old: Obstacle[]) => Obstacle[], edits: Partial<Edits>]>([
    ['may add one', (old) => [...old, obstacle('O3', 'New')], { obstacles: [obstacle('O3', 'New')] }],
    [
      'may resolve an old one',
      ([first, ...more]) => [{ ...(first as Obstacle), resolved: true }, ...more],
      { resolved: ['O1'] },
    ],
    [
      'cannot open one again',
      ([first, second]) => [first as Obstacle, { ...(second as Obstacle), resolved: false }],
      {},
    ],
    [
      'cannot remove one',
      ([first]) => [first as Obstacle],
      { notes: ['obstacles.json: O2 was changed or removed; ralph restored it.'] },
    ],
    [
      'cannot remove all',
      () => [],
      { notes: ['obstacles.json: O1, O2 were changed or removed; ralph restored them.'] },
    ],
    [
      'adds one when it gives an old one other words',
      ([first, ...more]) => [{ ...(first as Obstacle), message: 'Other' }, ...more],
      {
        obstacles: [obstacle('O1', 'Other')],
        notes: ['obstacles.json: O1 was changed or removed; ralph restored it.'],
      },
    ],
  ])('%s', (_, obstacles, edits) => {
    expect(edited({ obstacles })).toEqual({ ...nothing, ...edits })
    expect(editedCopy({ obstacles })).toEqual({ ...nothing, ...edits, notes: [] })
  })
})

describe('a file that can no longer be read', () => {
  test.each<[face: string, text: string, problem: RegExp]>([
    ['tasks.json', '{"tasks": [', /it is not valid JSON/],
    ['tasks.json', '[]', /must be an object with a list of "tasks"/],
    ['tasks.json', '{"tasks": [{"id": "T1"}]}', /title must be a string/],
    ['state.json', '{}', /must be a list of entries/],
    ['state.json', '', /it is not valid JSON/],
    ['obstacles.json', '[]', /must be an object with a list of "obstacles"/],
  ])('%s with %s is restored and set aside', (face, text, problem) => {
    const { notes, broken, ...rest } = edited({ [face]: text })
    expect(notes).toEqual([expect.stringMatching(problem)])
    expect(notes[0]).toMatch(new RegExp(`^${face} was broken: .* ralph restored it\\.$`))
    expect(broken).toEqual([face])
    expect({ ...rest, notes: [], broken: [] }).toEqual(nothing)
  })

  test.each(['tasks.json', 'state.json', 'obstacles.json'])('%s that is missing is restored', (face) => {
    expect(edited({ [face]: undefined })).toEqual({
      ...nothing,
      notes: [`${face} was broken: it was missing. ralph restored it.`],
    })
  })
})

describe('spec.md', () => {
  test.each<[fact: string, spec: string | undefined, edits: Partial<Edits>]>([
    ['may be amended', '# The spec\n\nMore.\n', { spec: '# The spec\n\nMore.\n' }],
    ['is put back when it is gone', undefined, { notes: ['spec.md was missing or empty; ralph restored it.'] }],
    ['is put back when it is empty', ' \n', { notes: ['spec.md was missing or empty; ralph restored it.'] }],
  ])('%s', (_, spec, edits) => {
    expect(edited({ 'spec.md': spec })).toEqual({ ...nothing, ...edits })
  })

  test('of a copy is not adopted', () => {
    expect(editedCopy({ 'spec.md': 'Mine\n' })).toEqual(nothing)
  })
})

describe('adopted obstacles', () => {
  function taken(edits: Partial<Edits>) {
    const { record: after, ids } = applyEdits(record, { ...nothing, ...edits }, { task: 'T2', iteration: 7 })
    return { obstacles: after.obstacles.slice(record.obstacles.length), ids: Object.fromEntries(ids), after }
  }

  test.each<[fact: string, given: Obstacle[], ids: string[], names: Record<string, string>]>([
    ['keep an id that is free', [obstacle('X9', 'a')], ['X9'], { X9: 'X9' }],
    ['get another when it is taken', [obstacle('O1', 'a')], ['O3'], { O1: 'O3' }],
    ['get one when they have none', [obstacle('', 'a')], ['O3'], {}],
    [
      'get one each',
      [obstacle('O2', 'a'), obstacle('O3', 'b'), obstacle('', 'c')],
      ['O3', 'O4', 'O5'],
      { O2: 'O3', O3: 'O4' },
    ],
  ])('%s', (_, given, ids, names) => {
    const { obstacles, ids: mapped } = taken({ obstacles: given })
    expect(obstacles.map(({ id }) => id)).toEqual(ids)
    expect(mapped).toEqual(names)
  })

  test('belong to the task and the iteration that found them', () => {
    expect(taken({ obstacles: [obstacle('O9', 'a', { task_id: '', iteration: 99 })] }).obstacles).toEqual([
      obstacle('O9', 'a', { task_id: 'T2', iteration: 7 }),
    ])
    expect(taken({ obstacles: [obstacle('O9', 'a', { task_id: 'T3' })] }).obstacles[0]?.task_id).toBe('T3')
  })

  test('include what ralph restored', () => {
    expect(taken({ notes: ['spec.md was gone.'] }).obstacles).toEqual([
      obstacle('O3', 'spec.md was gone.', { task_id: 'T2', iteration: 7, resolved: true }),
    ])
  })

  test('may have been resolved by someone else meanwhile', () => {
    expect(taken({ resolved: ['O1', 'O2', 'O99'] }).after.obstacles).toEqual([
      obstacle('O1', 'No network', { resolved: true }),
      obstacle('O2', 'No disk', { resolved: true }),
    ])
  })
})

test('an amended spec is adopted', () => {
  expect(applyEdits(record, { ...nothing, spec: 'New\n' }, { task: 'T1', iteration: 2 }).record.spec).toBe('New\n')
  expect(applyEdits(record, nothing, { task: 'T1', iteration: 2 }).record.spec).toBe(record.spec)
})
