/** Secrets that an agent prints, and those that a user gives it: what of them is on the disk, and what is shown. */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FAKES, PEM_LINES, PEM_RAW } from '../src/formats/secrets.test-support.ts'
import { changing, does, execute, makeProject, sh, startExecute } from './project-place.ts'
import { makePlace, onlyLoop, type Place, query, until } from './ralph.ts'
import { expectReplayed, knownIn } from './replayed.ts'
import { openSession } from './session-place.ts'

const ENV = { GITHUB_TOKEN: 'zebra-quartz-umbrella', DB_PASSWORD: 'unremarkable "words" 7' }
const RAW = [
  ...FAKES.map(({ raw }) => raw),
  ...PEM_RAW,
  ...Object.values(ENV),
  JSON.stringify(ENV.DB_PASSWORD).slice(1, -1),
]

/** Every file below ralph's home except the private ones with secrets, by name. */
function filesIn(home: string, below = ''): [name: string, text: string][] {
  return readdirSync(join(home, below), { withFileTypes: true }).flatMap((entry) => {
    const name = join(below, entry.name)
    if (entry.isDirectory()) return name === 'secrets' ? [] : filesIn(home, name)
    if (entry.isSymbolicLink()) return [] // into the repository itself
    return [[name, readFileSync(join(home, name)).toString('utf8')] as [string, string]]
  })
}

/** Which of them are found where. */
function leaksIn(texts: readonly [name: string, text: string][], raw: readonly string[] = RAW): string[] {
  return texts.flatMap(([name, text]) =>
    raw.filter((secret) => text.includes(secret)).map((secret) => `${name}: ${secret}`),
  )
}

/** A program that prints all of them: plain, cut in two, in JSON, in color, line by line. */
function printer(place: Place): string {
  const file = join(place.root, 'print.mjs')
  const given = JSON.stringify({ texts: FAKES.map(({ text }) => text), pem: PEM_LINES, env: Object.keys(ENV) })
  writeFileSync(
    file,
    `import { writeSync } from 'node:fs'
const { texts, pem, env } = ${given}
const all = [...texts, ...env.map((name) => process.env[name])]
const halves = (fd, text) => [text.slice(0, text.length / 2), text.slice(text.length / 2)].forEach((half) => writeSync(fd, half))
for (const text of all) {
  writeSync(1, 'I found ' + text + ' here.\\n')
  halves(1, text + '\\n')
  halves(2, text + '\\n')
  writeSync(1, JSON.stringify({ type: 'text', text: 'a\\n' + text }) + '\\n')
  writeSync(1, '\\u001b[32m' + text + '\\u001b[0m\\n')
}
for (const line of pem) writeSync(1, line + '\\n')
for (const line of pem) writeSync(2, '   ' + line + '\\n')
for (const line of pem) writeSync(1, JSON.stringify({ text: line }) + '\\n')
writeSync(1, JSON.stringify(pem.join('\\n')) + '\\n')
writeSync(1, 'x'.repeat(70_000) + ' ' + texts[0] + ' ')
writeSync(1, all.join(' ') + '\\n' + process.argv[2] + '\\n')
`,
  )
  return `${process.execPath} ${file}`
}

test('whatever an agent or a check prints is found nowhere unmasked', async () => {
  const place = makePlace()
  const print = printer(place)
  const check = ['--verify', `/bin/sh -c '${print} check; exit 1'`]
  const args = [
    'run',
    '--json',
    '--agent',
    `command:${print} "<promise>COMPLETE</promise>"`,
    '--max-iterations',
    '2',
    ...check,
  ]
  const ran = await place.ralph([...args, 'Build it'], { env: ENV, apart: true })
  const loop = onlyLoop(place)
  await place.ralph(['show', loop, '-o', join(place.root, 'report.html')])
  const shown = await Promise.all(
    [
      ['show', loop],
      ['show', loop, '--json'],
      ['show', loop, '--markdown'],
      ['status', '--json'],
    ].map(
      async (words) =>
        [words.join(' '), (await place.ralph(words, { env: ENV, apart: true })).stdout] as [string, string],
    ),
  )
  const texts: [string, string][] = [['--json', ran.stdout], ['stderr', ran.stderr], ...shown]
  const report = readFileSync(join(place.root, 'report.html'), 'utf8')
  expect(leaksIn([...filesIn(place.home), ...texts, ['report', report]])).toEqual([])
  const transcript = readFileSync(join(place.home, 'transcripts', loop, '1.jsonl'), 'utf8')
  expect(transcript).toContain('…masked:GITHUB_TOKEN…')
  expect(transcript).toContain('I found ghp_…masked… here.')
})

const [KEY, PASSWORD] = [FAKES[0], FAKES.find(({ kind }) => kind === 'password in an address')] as [
  (typeof FAKES)[number],
  (typeof FAKES)[number],
]
const OPTION = 'swordfish77'
const GIVEN = [KEY.raw, PASSWORD.raw, OPTION, PEM_RAW[0] ?? '', ENV.GITHUB_TOKEN]

/**
 * A loop whose prompt, arguments, check and agent contain secrets. The agent saves its input next to the work folder.
 */
async function given(place: Place, lines: string, ...more: string[]): Promise<string> {
  const agent = place.agent(`echo "$@" >> '${place.root}/arguments'\n${lines}`)
  place.write('check.sh', `#!/bin/sh\necho "$1" > '${place.root}/checked'\nexit 1\n`, 0o755)
  const prompt = `Use ${KEY.text} and ${ENV.GITHUB_TOKEN}.\n\n${PEM_LINES.join('\n')}\n\nThat is all.`
  const check = `./check.sh "${PASSWORD.text}"`
  const args = ['--agent', `${agent} first`, '--verify', check, '--max-iterations', '2', ...more]
  await place.ralph(['run', ...args, prompt, '--', '--token', OPTION], { env: ENV, apart: true })
  return prompt
}

const argumentsIn = (place: Place) => readFileSync(join(place.root, 'arguments'), 'utf8').trim().split('\n')

describe('secrets that a user gives', () => {
  test('reach the agent and the check, and are nowhere else in plain text', async () => {
    const place = makePlace()
    const prompt = await given(place, 'echo "I was told: $(cat "$0")"; echo "$@"; true')
    expect(place.prompt(1).startsWith(prompt)).toBe(true)
    expect(place.prompt(2).startsWith(prompt)).toBe(true)
    expect(argumentsIn(place)).toEqual(Array(2).fill(`first --token ${OPTION}`))
    expect(readFileSync(join(place.root, 'checked'), 'utf8')).toBe(`${PASSWORD.text}\n`)
    const shown = (await place.ralph(['show', onlyLoop(place), '--json'])).stdout
    expect(leaksIn([...filesIn(place.home), ['show', shown]], GIVEN)).toEqual([])
    await expectReplayed(place.home)
    for (const name of readdirSync(join(place.home, 'secrets')))
      expect(statSync(join(place.home, 'secrets', name)).mode & 0o777).toBe(0o600)
    expect(statSync(join(place.home, 'secrets')).mode & 0o777).toBe(0o700)
  })

  /** A loop whose driver was killed in its first turn, and whose agent completes from then on. */
  async function interrupted(place: Place): Promise<string> {
    const args = ['--agent', place.agent('echo $$ > pid; exec sleep 60'), `Use ${KEY.text}.`, '--', '--token', OPTION]
    const running = place.start(['run', ...args])
    await until('the agent runs', () => place.read('pid'))
    running.child.kill('SIGKILL')
    await running.ended
    place.agent(`echo "$@" >> '${place.root}/arguments'; echo '<promise>COMPLETE</promise>'`)
    return onlyLoop(place)
  }

  test('are passed on when another process continues, even with a rebuilt database', async () => {
    const place = makePlace()
    const loop = await interrupted(place)
    const before = knownIn(place.home).loop
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect(knownIn(place.home).loop).toEqual(before)
    expect((await place.ralph(['resume', loop], { apart: true })).code).toBe(0)
    expect(place.prompt(2)).toContain(`Use ${KEY.text}.`)
    expect(argumentsIn(place)).toEqual([`--token ${OPTION}`])
    expect(leaksIn(filesIn(place.home), GIVEN)).toEqual([])
  })

  test('that are lost are asked for, and can be given again', async () => {
    const place = makePlace()
    const loop = await interrupted(place)
    const secrets = join(place.home, 'secrets')
    const marks = new Map(readdirSync(secrets).map((name) => [readFileSync(join(secrets, name), 'utf8'), name]))
    rmSync(secrets, { recursive: true })
    const refused = await place.ralph(['resume', loop])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/The secret behind "…masked-[0-9a-f]{12}…" is no longer in /)
    expect(place.calls().length).toBe(1)
    const again = ['--agent', `command:${join(place.root, 'agent.sh')}`, `Use ${KEY.text}.`]
    expect((await place.ralph(['run', ...again])).code).toBe(0)
    expect(place.prompt(2)).toContain(`Use ${KEY.text}.`)
    for (const secret of [KEY.raw, OPTION]) writeFileSync(join(secrets, marks.get(secret) ?? ''), secret)
    expect((await place.ralph(['resume', loop])).code).toBe(0)
    expect(place.prompt(3)).toContain(`Use ${KEY.text}.`)
  })

  test('are passed on to a fork, a retry and messages to a loop', async () => {
    const place = makePlace()
    const agent = place.agent('echo x >> work.txt')
    await place.ralph(['run', '--agent', agent, '--max-iterations', '1', `Use ${KEY.text}.`])
    const loop = onlyLoop(place)
    await place.ralph(['fork', loop, '--max-iterations', '1'])
    await place.ralph(['retry', loop, `Or ${PASSWORD.text}`])
    await until('both to start', () => place.calls().length >= 3)
    const prompts = [2, 3].map((call) => place.prompt(call))
    for (const prompt of prompts) expect(prompt).toContain(`Use ${KEY.text}.`)
    expect(prompts.some((prompt) => prompt.includes(PASSWORD.text))).toBe(true)
    expect(leaksIn(filesIn(place.home), GIVEN)).toEqual([])
  })

  test('are not revealed to an agent that prints the mark of another loop', async () => {
    const place = makePlace()
    await place.ralph(['run', '--agent', place.agent('true'), '--max-iterations', '1', `Use ${KEY.text}.`])
    const [name = ''] = readdirSync(join(place.home, 'secrets')).filter((file) => file !== 'key')
    const curious = place.agent(`echo "Done: …masked-${name}…"; echo '<promise>COMPLETE</promise>'`)
    await place.ralph(['run', '--agent', curious, '--max-iterations', '2', '--verify', 'false', 'Other work'])
    expect(place.prompt(3)).not.toContain(KEY.raw)
  })

  test('stay in the file of a session, and reach its agent', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place, {})
    const begun = await session.type(`/ralph:loop Use ${KEY.text} --max-iterations 5`)
    expect(begun.prompt).toContain(`Use ${KEY.text}`)
    await session.work()
    await session.type('/ralph:pause')
    expect((await session.type('/ralph:resume')).prompt).toContain(`Use ${KEY.text}`)
    expect(place.read('.claude/ralph-loop.local.md')).toContain(`Use ${KEY.text}`)
    expect((await session.work()).prompt).toContain('This is iteration 3')
    expect(query(place, 'SELECT count(*) AS n FROM event WHERE fact LIKE \'%"edit"%\'')).toEqual([{ n: 0 }])
    expect(leaksIn(filesIn(place.home), GIVEN)).toEqual([])
  })

  test('are removed when no loop needs them any longer', async () => {
    const place = makePlace()
    const run = (prompt: string) =>
      place.ralph(['run', '--agent', place.agent('true'), '--max-iterations', '1', prompt])
    const kept = () => readdirSync(join(place.home, 'secrets')).filter((file) => file !== 'key').length
    await run(`Use ${KEY.text}.`)
    expect(kept()).toBe(1)
    await place.ralph(['prune', '--days', '0'])
    expect(kept()).toBe(0)
  })
})

test('what looks like a secret but is none stays as it is', async () => {
  const place = makePlace()
  const honest = [
    'commit 0123456789abcdef0123456789abcdef01234567',
    'const password = getPassword()',
    'a task-list of sk-short',
  ]
  const agent = place.agent(honest.map((line) => `echo '${line}'`).join('\n'))
  await place.ralph(['run', '--agent', agent, '--max-iterations', '1', 'Build it'])
  const transcript = readFileSync(join(place.home, 'transcripts', onlyLoop(place), '1.jsonl'), 'utf8')
  for (const line of honest) expect(transcript).toContain(line)
})

test("a project stores its agent's reports without secrets, and resumes its task unchanged", async () => {
  const check = `sh -c 'printf %s "$0" > "$CHECKED"; test -f T1.txt' "${PASSWORD.text}"`
  const place = makeProject([{ id: 'T1', verify: check }])
  const entry = `it.push({ iteration: 1, task_id: 'T1', status: 'attempted', summary: 'with ${KEY.text}', files_modified: [], obstacles: [] })`
  const obstacle = `it.obstacles.push({ id: 'O1', task_id: 'T1', message: 'no ${KEY.text}', resolved: false, iteration: 1 })`
  const turns = {
    T1: [
      [changing('state.json', entry), changing('obstacles.json', obstacle)],
      [sh('echo $$ > pid; exec sleep 60')],
      does('T1'),
    ],
  }
  place.env.CHECKED = join(place.root, 'checked')
  const running = startExecute(place, turns)
  await until('the second turn runs', () => place.read('pid'))
  running.child.kill('SIGKILL')
  await running.ended
  expect((await execute(place, { T1: [does('T1')] })).code).toBe(0)
  expect(readFileSync(join(place.root, 'checked'), 'utf8')).toBe(PASSWORD.text)
  expect(query(place, "SELECT count(*) AS n FROM event WHERE json_extract(fact, '$.kind') = 'asked'")).toEqual([
    { n: 0 },
  ])
  const faces = ['state.json', 'obstacles.json', 'results.md'].map((name) => place.read(`.artefacts/shop/${name}`))
  for (const text of faces) expect(text).not.toContain(KEY.raw)
  expect(faces[0]).toContain('with ghp_…masked…')
  // The list of tasks is the user's, and so is what they wrote into it.
  expect(leaksIn(filesIn(place.home), [KEY.raw])).toEqual([])
})
