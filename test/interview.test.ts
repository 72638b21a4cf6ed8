/** `ralph init` and `ralph interview`, unattended with answers from a file and in a real terminal. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { carriers, LAUNCHER, makePlace, type Place, until } from './ralph.ts'
import { hasTmux, openTerminal, type Terminal } from './tmux.ts'

const FOLDER = '.artefacts/shop'
const TASKS = `echo '{"tasks": [{"id": "T1", "title": "A cart"}, {"id": "T2", "title": "A till"}]}' > ${FOLDER}/tasks.json`
const DONE = `echo over > ${FOLDER}/done.md`

/** A place with a project whose spec has been written. */
async function makeProject(): Promise<Place> {
  const place = makePlace()
  expect(await place.ralph(['init', 'shop'])).toMatchObject({ code: 0 })
  place.write(`${FOLDER}/spec.md`, 'A shop.\n')
  writeFileSync(join(place.root, 'answers.md'), 'It must be blue.\n')
  return place
}

function alone(place: Place, lines: string, ...args: string[]) {
  const agent = ['--agent', place.agent(lines), '--non-interactive', '../answers.md']
  return place.ralph(['interview', 'shop', ...agent, ...args])
}

describe.concurrent('ralph init', () => {
  test('creates a spec, says what to do next, and keeps it out of commits', async () => {
    const place = makePlace()
    const ran = await place.ralph(['init', 'shop'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toContain(`Created ${FOLDER}/spec.md.`)
    expect(ran.stdout).toContain('ralph interview shop')
    expect(ran.stdout).toContain(`git add -f ${FOLDER}\n`)
    expect(place.read(`${FOLDER}/spec.md`)).toMatch(/^# shop\n/)
    expect(place.read('.git/info/exclude')).toContain('\n/.artefacts/\n')
    const again = await place.ralph(['init', 'shop'])
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('was not changed') })
  })

  test('works below the top of a repository, and without one', async () => {
    const place = makePlace()
    place.write('sub/README.md', '')
    expect(await place.ralph(['init', 'shop', '--dir', 'sub'])).toMatchObject({ code: 0 })
    expect(place.read('.git/info/exclude')).toContain('\n/sub/.artefacts/\n')
    const bare = makePlace({ git: false })
    const ran = await bare.ralph(['init', 'shop'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).not.toContain('commits')
  })

  test.each([
    [['init'], 'ralph init NAME'],
    [['init', '../shop'], 'is not a valid project name'],
    [['init', 'a', 'b'], 'Unexpected argument: "b"'],
    [['interview'], 'ralph interview NAME'],
    [['interview', 'shop'], 'ralph init shop'],
  ])('ralph %j is refused: %s', async (args, words) => {
    expect(await makePlace().ralph(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
  })
})

describe.concurrent('ralph interview --non-interactive', () => {
  test('holds its rounds with the answers in the file, and creates tasks', async () => {
    const place = await makeProject()
    const ran = await alone(place, `echo "Round $RALPH_ITERATION."; [ $RALPH_ITERATION = 3 ] && ${TASKS}; ${DONE}`)
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toMatch(
      /^ralph interview shop · agent command:.* · 3 rounds\nround 1 of 3\n {4}Round 1\.\nround 2/,
    )
    expect(ran.stdout).toMatch(/2 tasks in .*tasks\.json\. Next: ralph execute shop\n$/)
    expect(place.calls()).toEqual(['1 1', '2 1', '3 1'])
    expect(place.prompt(2)).toContain('This is round 2 of 3.')
    expect(place.prompt(2)).toContain('<answers>\nIt must be blue.\n</answers>')
    expect(JSON.parse(place.read(`${FOLDER}/tasks.json`))).toMatchObject({ project_name: 'shop' })
    expect(place.read(`${FOLDER}/state.json`)).toBe('[]\n')
    expect(JSON.parse(place.read(`${FOLDER}/obstacles.json`))).toEqual({ obstacles: [] })
    expect(existsSync(join(place.dir, FOLDER, 'done.md'))).toBe(false)
  })

  test('works with the scripted agent', async () => {
    const place = await makeProject()
    const edit = (name: string, content: string) => ({ edit: { path: `${FOLDER}/${name}`, content } })
    const agent = place.script([
      [{ text: 'I ask nothing.' }, edit('done.md', '')],
      [edit('tasks.json', '{"tasks": [{"id": "T1", "title": "x"}]}'), edit('done.md', '')],
    ])
    const args = ['interview', 'shop', '--rounds', '2', '--agent', agent, '--non-interactive', '../answers.md']
    expect(await place.ralph(args)).toMatchObject({ code: 0, stdout: expect.stringContaining('1 task in') })
  })

  test('reports an unchanged spec', async () => {
    const place = makePlace()
    await place.ralph(['init', 'shop'])
    place.write('answers.md', 'Blue.')
    const args = ['--agent', place.agent(`${TASKS}; ${DONE}`), '--rounds', '1', '--non-interactive', 'answers.md']
    const ran = await place.ralph(['interview', 'shop', ...args])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('still the empty template') })
  })

  test('mistakes are reported to the user and to the agent, once', async () => {
    const place = await makeProject()
    const ran = await alone(place, `[ $RALPH_ATTEMPT = 2 ] && ${TASKS}; rm ${FOLDER}/spec.md; ${DONE}`, '--rounds', '1')
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringContaining('Start over with: ralph interview shop') })
    expect(ran.stdout).toContain('tasks.json is missing')
    expect(ran.stdout).toContain('spec.md was deleted; ralph restored it')
    expect(place.calls()).toEqual(['1 1', '1 2'])
    expect(place.prompt(2)).toContain('tasks.json is missing')
    expect(place.read(`${FOLDER}/spec.md`)).toBe('A shop.\n')
  })

  test('an agent that fails is asked again, and its message is shown', async () => {
    const place = await makeProject()
    const ran = await alone(
      place,
      '[ $RALPH_ATTEMPT = 1 ] && { echo "no luck" >&2; exit 5; }; '.concat(`${TASKS}; ${DONE}`),
      '--rounds=1',
    )
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The agent failed: crash: it exited with code 5: no luck'),
    })
  })

  test('an agent that cannot be used ends the interview at once', async () => {
    const place = await makeProject()
    writeFileSync(join(place.root, 'broken'), '#!/no/such/interpreter\n', { mode: 0o755 })
    const args = ['interview', 'shop', '--agent', 'command:../broken', '--non-interactive', '../answers.md']
    expect(await place.ralph(args)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('cannot be used: its interpreter'),
    })
  })

  test('a signal ends the interview and everything it started', async () => {
    const place = await makeProject()
    const agent = place.agent(`export RALPH_TEST='${place.root}'; setsid sleep 1000 & sleep 1000`)
    const going = place.start(['interview', 'shop', '--agent', agent, '--non-interactive', '../answers.md'])
    await until('the agent to work', () => carriers(`RALPH_TEST=${place.root}`).length >= 2)
    going.child.kill('SIGINT')
    expect(await going.ended).toMatchObject({ code: 130, stdout: expect.stringContaining('Stopped.') })
    expect(carriers(`RALPH_TEST=${place.root}`)).toEqual([])
  })

  test.each([
    [['--non-interactive', 'nothing.md'], 2, 'The answers file'],
    [['--non-interactive', '../answers.md', '--agent', 'command:nobody'], 3, '"nobody" was not found'],
    [
      ['--non-interactive', '../answers.md', '--agent', 'command:true', '--model', 'm'],
      2,
      'See `ralph interview --help`',
    ],
    [['--non-interactive', '../answers.md', '--rounds', '0'], 2, '--rounds must be a whole number of at least 1'],
    [['--agent', 'command:true'], 2, '--non-interactive FILE'],
  ])('%j is refused', async (args, code, words) => {
    const place = await makeProject()
    expect(await place.ralph(['interview', 'shop', ...args])).toMatchObject({
      code,
      stderr: expect.stringContaining(words),
    })
  })

  test('a running project cannot be interviewed about', async () => {
    const place = await makeProject()
    place.write(`${FOLDER}/tasks.json`, '{"tasks": [{"id": "T1", "title": "x", "attempts": 1}]}')
    expect(await alone(place, DONE)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('ralph execute shop'),
    })
  })
})

/** ralph in its own terminal, with an agent made from these lines. */
function talk({ skip }: TestContext, place: Place, lines: string, ...args: string[]): Terminal {
  skip(!hasTmux, 'tmux is not installed')
  writeFileSync(join(place.root, 'talker.sh'), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  const words = ['interview', 'shop', '--agent', 'command:../talker.sh', ...args]
  return openTerminal([process.execPath, LAUNCHER, ...words], {
    dir: place.dir,
    env: { ...place.env, RALPH_TEST: place.root },
  })
}

describe.concurrent('ralph interview in a terminal', () => {
  test('the agent has the keyboard and the screen, and the next round follows', async (context) => {
    const place = await makeProject()
    const terminal = talk(
      context,
      place,
      `echo "$1" > ../prompt.$RALPH_ITERATION
printf 'Question %s? ' $RALPH_ITERATION; read -r answer
echo "$answer" >> ${FOLDER}/spec.md
[ $RALPH_ITERATION = 2 ] && ${TASKS}
${DONE}`,
      ...['--rounds', '2'],
    )
    for (const n of [1, 2]) {
      await terminal.shows(`Question ${n}?`)
      await terminal.enter(`Blue, number ${n}`)
    }
    expect(await terminal.ended()).toBe(0)
    expect(terminal.screen()).toMatch(
      /· 2 rounds\nround 1 of 2\nQuestion 1\? Blue, number 1\n\s*round 2 of 2\n[\s\S]*2 tasks in/,
    )
    expect(place.read(`${FOLDER}/spec.md`)).toBe('A shop.\nBlue, number 1\nBlue, number 2\n')
    expect(readFileSync(join(place.root, 'prompt.2'), 'utf8')).toContain('This is round 2 of 2.')
  })

  test('an agent that stays is stopped once done.md is quiet, with all it started, and the terminal is restored', async (context) => {
    const place = await makeProject()
    const terminal = talk(
      context,
      place,
      `stty raw -echo
printf '\\033[?1049h\\033[?25l\\033[?1003h\\033[?2004hNo question.'
setsid sleep 1000 &
${TASKS}; ${DONE}
sleep 1000`,
      ...['--rounds', '1'],
    )
    await terminal.shows('No question.')
    expect(terminal.ask('alternate_on')).toBe('1')
    expect(await terminal.ended()).toBe(0)
    expect(carriers(`RALPH_TEST=${place.root}`)).toEqual([])
    expect(terminal.settings()).toMatch(/(?<!-)\bicanon\b[\s\S]*(?<!-)\becho\b/)
    expect(['alternate_on', 'cursor_flag', 'mouse_any_flag'].map(terminal.ask)).toEqual(['0', '1', '0'])
    expect(terminal.screen()).toMatch(/^ralph interview shop [\s\S]*round 1 of 1\n\s*2 tasks in/)
  })

  test('Ctrl-C goes to the agent, and an agent that ends without done.md is asked once more', async (context) => {
    const place = await makeProject()
    const terminal = talk(
      context,
      place,
      `stop() { [ $RALPH_ATTEMPT = 2 ] && { ${TASKS}; ${DONE}; }; exit 1; }
trap stop INT
echo "Attempt $RALPH_ATTEMPT."
while :; do sleep 0.1; done`,
      ...['--rounds', '1'],
    )
    for (const n of [1, 2]) {
      await terminal.shows(`Attempt ${n}.`)
      terminal.press('C-c')
    }
    expect(await terminal.ended()).toBe(0)
    expect(terminal.screen()).toContain('Asking the agent once more.')
  })

  test('leaving twice ends the interview', async (context) => {
    const place = await makeProject()
    const terminal = talk(context, place, 'echo Bye.')
    expect(await terminal.ended()).toBe(1)
    expect(terminal.screen()).toContain('Round 1 of 3 failed twice.')
    expect(place.read(`${FOLDER}/spec.md`)).toBe('A shop.\n')
  })

  test('interrupting the agent ends the interview', async (context) => {
    const place = await makeProject()
    const terminal = talk(context, place, 'echo Hello.; sleep 60')
    await terminal.shows('Hello.')
    terminal.press('C-c')
    expect(await terminal.ended()).toBe(130)
    expect(terminal.screen()).toContain('Stopped. What was written is kept.')
  })

  test('the scripted agent works, and one that only speaks a protocol is refused', async ({ skip }) => {
    skip(!hasTmux, 'tmux is not installed')
    const place = await makeProject()
    const edit = (name: string, content: string) => ({ edit: { path: `${FOLDER}/${name}`, content } })
    const agent = place.script([[edit('tasks.json', '{"tasks": [{"id": "T1", "title": "x"}]}'), edit('done.md', '')]])
    const play = (name: string) =>
      openTerminal([process.execPath, LAUNCHER, 'interview', 'shop', '--rounds=1', '--agent', name], place)
    expect(await play(agent).ended()).toBe(0)
    const refused = play('acp:true')
    expect(await refused.ended()).toBe(2)
    expect(refused.screen()).toContain('has no interactive mode')
  })

  test('closing the terminal stops the agent', async (context) => {
    const place = await makeProject()
    const terminal = talk(context, place, 'trap "" HUP; echo Here.; sleep 1000')
    await terminal.shows('Here.')
    expect(carriers(`RALPH_TEST=${place.root}`).length).toBeGreaterThan(1)
    terminal.close()
    await until('the end of all processes', () => carriers(`RALPH_TEST=${place.root}`).length === 0)
  })
})
