/** `ralph import`: a file from another tool becomes a project, or a sentence says why not and nothing is written. */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bytesOf, foreignBoard } from '../src/host/vibe-kanban.test-support.ts'
import { makePlace, type Place } from './ralph.ts'

const STORIES = [
  { id: 'US-002', title: 'Show it', priority: 2, passes: false, dependsOn: ['US-001'] },
  { id: 'US-001', title: 'Store it', acceptanceCriteria: ['Typecheck passes'], priority: 1, passes: true },
]
const PRD = JSON.stringify({ project: 'MyApp', description: 'Priorities.', userStories: STORIES })

function placeWith(name: string, text: string): Place {
  const place = makePlace({ git: false })
  place.write(name, text)
  return place
}

function faces({ dir }: Place, project = 'shop'): string[] {
  return readdirSync(join(dir, '.artefacts', project)).sort()
}

describe.concurrent('ralph import', () => {
  test('turns a prd.json into a project', async () => {
    const place = placeWith('prd.json', PRD)
    const ran = await place.ralph(['import', 'prd.json', 'shop'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toBe('.artefacts/shop/tasks.json: 2 tasks, 1 completed.\nNext: ralph execute shop\n')
    expect(faces(place)).toEqual(['obstacles.json', 'spec.md', 'state.json', 'tasks.json'])
    expect(place.read('.artefacts/shop/spec.md')).toBe('# MyApp\n\nPriorities.\n')
    expect(JSON.parse(place.read('.artefacts/shop/state.json'))).toEqual([])
    expect(JSON.parse(place.read('.artefacts/shop/obstacles.json'))).toEqual({ obstacles: [] })
    expect(JSON.parse(place.read('.artefacts/shop/tasks.json'))).toMatchObject({
      project_name: 'shop',
      version: 1,
      tasks: [
        { id: 'US-001', status: 'completed', description: 'Acceptance criteria:\n- Typecheck passes' },
        { id: 'US-002', status: 'pending', dependencies: ['US-001'] },
      ],
    })
    expect(existsSync(place.home)).toBe(false)
  })

  test('turns checkboxes into a project, in another folder', async () => {
    const place = placeWith('my sub/x', '')
    writeFileSync(join(place.root, 'fix_plan.md'), '# Plan\n\n## High\n- [x] One\n- [ ] Two\n')
    const ran = await place.ralph(['import', '../fix_plan.md', 'läden_2', '--dir', 'my sub'])
    expect(ran.stdout).toBe(
      `.artefacts/läden_2/tasks.json: 2 tasks, 1 completed.\nNext: ralph execute läden_2 --dir '${place.dir}/my sub'\n`,
    )
    expect(JSON.parse(place.read('my sub/.artefacts/läden_2/tasks.json')).tasks).toMatchObject([
      { id: 'T1', title: 'One', status: 'completed', description: 'Part of: High' },
      { id: 'T2', title: 'Two', status: 'pending' },
    ])
    expect(place.read('my sub/.artefacts/läden_2/spec.md')).toBe('# Plan\n')
  })

  test('copies tasks.json from one project to another', async () => {
    const place = placeWith('prd.json', PRD)
    await place.ralph(['import', 'prd.json', 'shop'])
    const ran = await place.ralph(['import', '.artefacts/shop/tasks.json', 'copy'])
    expect(ran.code).toBe(0)
    expect(place.read('.artefacts/copy/tasks.json')).toBe(
      place.read('.artefacts/shop/tasks.json').replace('"shop"', '"copy"'),
    )
  })

  test('keeps existing files, and never overwrites tasks', async () => {
    const place = placeWith('plan.md', '- [ ] a')
    place.write('.artefacts/shop/spec.md', 'My own words.\n')
    place.write('.artefacts/shop/state.json', '[]')
    expect((await place.ralph(['import', 'plan.md', 'shop'])).code).toBe(0)
    expect(place.read('.artefacts/shop/spec.md')).toBe('My own words.\n')
    expect(place.read('.artefacts/shop/state.json')).toBe('[]')
    const before = place.read('.artefacts/shop/tasks.json')
    place.write('plan.md', '- [ ] b')
    const again = await place.ralph(['import', 'plan.md', 'shop'])
    expect(again.code).toBe(2)
    expect(again.stderr).toBe(
      `ralph: ${place.dir}/.artefacts/shop/tasks.json already exists. Choose another project name, or move that file.\n`,
    )
    expect(place.read('.artefacts/shop/tasks.json')).toBe(before)
  })
})

describe.concurrent('wrong use of ralph import', () => {
  test.each<[story: string, args: string[], says: RegExp]>([
    ['no arguments', [], /Missing file and project name/],
    [
      'no project',
      ['plan.md'],
      /plan\.md is not a vibe-kanban database, so a project name is needed.*ralph import --help/,
    ],
    ['neither file nor project', ['missing.db'], /No such file: missing\.db/],
    ['a third argument', ['plan.md', 'shop', 'more'], /Unexpected argument: "more"/],
    ['an unknown option', ['plan.md', 'shop', '--dri', 'x'], /Did you mean --dir\?/],
    ['no such file', ['missing.md', 'shop'], /The task file .*missing\.md does not exist/],
    ['a folder', ['.', 'shop'], /cannot be read/],
    ['no such --dir', ['plan.md', 'shop', '--dir', 'nowhere'], /nowhere is not a folder/],
    ['a name with path parts', ['plan.md', '../shop'], /"\.\.\/shop" is not a valid project name/],
    ['an empty name', ['plan.md', ''], /"" is not a valid project name/],
    ['the name of the templates folder', ['plan.md', 'Templates'], /cannot be named "Templates"/],
    ['a file without tasks', ['empty.md', 'shop'], /empty\.md is empty\. Expected a prd\.json/],
    ['a file that is no JSON', ['broken.json', 'shop'], /broken\.json: it is not valid JSON/],
    ['a file of another shape', ['other.json', 'shop'], /other\.json contains \{"stories":\[\]\}/],
    ['stories that depend on each other', ['cycle.json', 'shop'], /dependency cycle: A → A/],
  ])('%s', async (_, args, says) => {
    const place = placeWith('plan.md', '- [ ] a')
    place.write('empty.md', '\uFEFF\r\n')
    place.write('broken.json', '{"userStories": [\n')
    place.write('other.json', '{"stories":[]}')
    place.write('cycle.json', '{"userStories":[{"id":"A","title":"a","dependsOn":["A"]}]}')
    const ran = await place.ralph(['import', ...args])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(says)
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
    expect(existsSync(join(place.dir, '.artefacts'))).toBe(false)
  })

  test('a link that leads out of the folder', async () => {
    const place = placeWith('plan.md', '- [ ] a')
    const outside = join(place.root, 'outside')
    mkdirSync(outside)
    symlinkSync(outside, join(place.dir, '.artefacts'))
    const ran = await place.ralph(['import', 'plan.md', 'shop'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(', outside ')
    expect(readdirSync(outside)).toEqual([])
  })

  test('a file where the folder belongs', async () => {
    const place = placeWith('plan.md', '- [ ] a')
    place.write('.artefacts', '')
    const ran = await place.ralph(['import', 'plan.md', 'shop'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('must be a folder, but is a file')
  })

  test('a folder where tasks.json belongs', async () => {
    const place = placeWith('plan.md', '- [ ] a')
    mkdirSync(join(place.dir, '.artefacts/shop/tasks.json'), { recursive: true })
    const ran = await place.ralph(['import', 'plan.md', 'shop'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('tasks.json is not a file')
  })

  test.skipIf(process.getuid?.() === 0)('a folder that cannot be written (root may write everywhere)', async () => {
    const place = placeWith('plan.md', '- [ ] a')
    chmodSync(place.dir, 0o500)
    const ran = await place.ralph(['import', 'plan.md', 'shop'])
    chmodSync(place.dir, 0o700)
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('cannot be written')
  })
})

test('ralph import copies the tasks of vibe-kanban to the board, once', async () => {
  const place = makePlace({ git: false })
  const foreign = foreignBoard('fork')
  const project_id = bytesOf(foreign.add('projects', { name: 'Shop' }))
  for (const status of ['todo', 'todo', 'done']) foreign.add('tasks', { project_id, title: 'x', status })
  const { path } = foreign
  const found = `${path}: 1 new project, 3 new tasks (2 todo, 1 done), 0 already on the board.\n`
  const dry = await place.ralph(['import', path, '--dry-run'])
  expect(dry.stdout).toBe(`${found}Dry run: nothing was imported.\n`)
  expect((await place.ralph(['import', path])).stdout).toBe(`${found}Next: ralph board\n`)
  expect((await place.ralph(['import', path])).stdout).toBe(
    `${path}: 0 new projects, 0 new tasks, 3 already on the board.\nNext: ralph board\n`,
  )
  for (const args of [
    [path, 'shop'],
    [path, '--dir', '.'],
    ['prd.json', 'shop', '--dry-run'],
  ])
    expect(await place.ralph(['import', ...args])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('vibe-kanban'),
    })
})
