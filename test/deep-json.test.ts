/** Extremely deep JSON wherever ralph reads JSON: a clear sentence, and everything else continues. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { does, edit, execute, FOLDER, makeProject, messages } from './project-place.ts'
import { makePlace, type Place } from './ralph.ts'

const LEVELS = 50_000
const LISTS = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`
const OBJECTS = `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`

const CLAIMS = 'echo x >> progress.txt; echo "<promise>COMPLETE</promise>"'

describe.concurrent('a project', () => {
  test.each([
    ['tasks.json', OBJECTS],
    ['tasks.json', `{"project_name":"shop","tasks":[{"id":"T1","title":"x","more":${LISTS}}]}`],
    ['state.json', LISTS],
    ['obstacles.json', `{"obstacles":[],"more":${LISTS}}`],
  ])('in which an agent nests %s continues with what it had', async (face, deep) => {
    const place = makeProject(['T1'], { git: false })
    const ran = await execute(place, { T1: [[edit(`${FOLDER}/${face}`, deep)], does('T1')] })
    expect(ran).toMatchObject({ code: 0, end: { reason: 'completed' } })
    expect(messages(ran)).toContain(`${face} was broken: it is nested more than 200 levels deep. ralph restored it.`)
    expect(readdirSync(join(place.dir, FOLDER)).filter((name) => name.startsWith(`${face}.broken-`))).toHaveLength(1)
  })

  test.each(['tasks.json', 'state.json', 'obstacles.json'])(
    'whose %s is nested while ralph is not running starts as after other damage',
    async (face) => {
      const ends = async (text: string) => {
        const place = makeProject(['T1'], { git: false })
        await execute(place, { T1: [[edit('x.txt', 'x')]] }, '--iterations', '1')
        place.write(`${FOLDER}/${face}`, text)
        const { code, end } = await execute(place, { T1: [does('T1')] })
        return { code, reason: end.reason ?? end.code }
      }
      const [deep, other] = await Promise.all([ends(OBJECTS), ends('{')])
      expect(deep).toEqual(other)
      // The tasks belong to the user: what they wrote there is theirs to fix.
      expect(deep).toEqual(
        face === 'tasks.json' ? { code: 2, reason: 'tasks-invalid' } : { code: 0, reason: 'completed' },
      )
    },
  )

  test('whose tasks.json is nested from the start is refused with a sentence', async () => {
    const place = makeProject(['T1'])
    place.write(`${FOLDER}/tasks.json`, `{"tasks":[{"id":"T1","title":"x","more":${LISTS}}]}`)
    const ran = await execute(place, { T1: [does('T1')] })
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('tasks.json')
    expect(ran.stderr).toContain('nested more than 200 levels deep')
  })
})

describe.concurrent('a file that the user provides', () => {
  const isRefused = async (place: Place, ...args: string[]) => {
    const ran = await place.ralph(args)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(/^ralph: [^\n]*nested[^\n]*\n$/)
  }

  test.each([LISTS, OBJECTS, `{"userStories":[{"id":"1","title":"x","notes":${LISTS}}]}`])('prd.json', async (deep) => {
    const place = makePlace()
    place.write('prd.json', deep)
    await isRefused(place, 'import', 'prd.json', 'shop')
  })

  test('ralph.config.json', async () => {
    const place = makePlace({ git: false })
    place.write('ralph.config.json', `{"verify":${LISTS}}`)
    await isRefused(place, 'run', 'x', '--agent', place.agent(CLAIMS))
  })

  test('config.yaml', async () => {
    const place = makePlace({ git: false })
    place.write('config.yaml', `ralph:\n  verify: ${LISTS}\n`)
    await isRefused(place, 'run', 'x', '--agent', place.agent(CLAIMS))
  })

  test('the script of the scripted agent', async () => {
    const place = makePlace({ git: false })
    place.write('script.json', `{"turns":${LISTS}}`)
    await isRefused(place, 'run', 'x', '--agent', `scripted:${join(place.dir, 'script.json')}`)
  })

  test('package.json, which names the checks', async () => {
    const place = makePlace()
    place.write('package.json', `{"scripts":{"test":"true"},"x":${LISTS}}`)
    const ran = await place.ralph([
      'run',
      'x',
      '--agent',
      place.agent(CLAIMS),
      '--verify',
      'npm test',
      '--json',
      '--max-iterations',
      '1',
    ])
    expect(ran.stderr).toBe('')
    expect(ran.end).toMatchObject({ iterations: 1 })
  })
})

describe.concurrent('a vault', () => {
  test('runs a task whose front matter has nested values', async () => {
    const place = makePlace({ git: false })
    place.write('Needs_Action/letter.md', `---\nmore: ${'['.repeat(5_000)}\nverify: ${LISTS}\n---\nWrite a letter.\n`)
    const ran = await place.ralph(['task', 'start', 'Needs_Action/letter.md', '--vault', place.dir, '--json'])
    expect(ran.stderr).not.toContain('this is a bug')
    expect([0, 2]).toContain(ran.code)
  })

  test('rebuilds a nested state file', async () => {
    const place = makePlace({ git: false })
    place.write('Needs_Action/letter.md', 'Write a letter.\n')
    const task = (...args: string[]) => place.ralph(['task', ...args, '--vault', place.dir, '--json'])
    expect((await task('start', 'Needs_Action/letter.md')).code).toBe(0)
    place.write('Ralph_State/letter.json', OBJECTS)
    const ran = await task('state', 'letter')
    expect(ran.code).toBe(0)
    expect(JSON.parse(place.read('Ralph_State/letter.json'))).toMatchObject({ task_id: 'letter' })
  })
})

describe.concurrent('an agent', () => {
  test.each(['claude', 'codex', 'gemini', 'pi'])('%s that prints nested JSON is read to its end', async (name) => {
    const place = makePlace({ git: false })
    const events = [
      `{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":${OBJECTS}}]}}`,
      `{"type":"item.completed","item":{"type":"command_execution","command":${LISTS}}}`,
      `{"type":"tool_execution_start","toolName":"bash","args":${OBJECTS}}`,
      `{"type":"result","is_error":false,"result":${LISTS}}`,
      OBJECTS,
    ]
    place.write('events', `${events.join('\n')}\n`)
    place.write(
      `bin/${name}`,
      `#!/bin/sh\n[ "$1" = --version ] && { echo 1.0.0; exit; }\ncat ${join(place.dir, 'events')}\n`,
      0o755,
    )
    const ran = await place.ralph(['run', 'x', '--agent', name, '--max-iterations', '1', '--json'], {
      env: { PATH: `${join(place.dir, 'bin')}:${place.env.PATH}` },
    })
    expect(ran.stderr).not.toContain('this is a bug')
    expect([0, 1, 3, 4]).toContain(ran.code)
  })
})

test('a hook with a nested payload lets the stop pass', () => {
  const place = makePlace({ git: false })
  const hook = resolve(import.meta.dirname, '..', 'dist', 'hook.cjs')
  for (const payload of [
    OBJECTS,
    `{"session_id":"s","hook_event_name":"Stop","cwd":"/","last_assistant_message":${LISTS}}`,
    `{"session_id":${OBJECTS},"hook_event_name":"Stop","cwd":"/"}`,
    `{"session_id":"s","hook_event_name":"UserPromptSubmit","cwd":"/","prompt":"/ralph:loop x","more":${OBJECTS}}`,
  ]) {
    const out = execFileSync(process.execPath, [hook, 'claude', 'stop'], {
      input: payload,
      env: place.env,
      encoding: 'utf8',
    })
    expect(out).not.toContain('bug')
  }
})
