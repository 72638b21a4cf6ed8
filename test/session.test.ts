/** Loops inside an agent's own session, driven by the real gate and the built hook program, as a host would call them. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { wrapPrompt } from '../src/formats/wrapped-prompt.ts'
import { carriers, makePlace, onlyLoop, type Place, query, until } from './ralph.ts'
import {
  answerOf,
  askProgram,
  callGate,
  face,
  field,
  GATE,
  type HookResult,
  type Json,
  openSession,
  PROGRAM,
  type Session,
} from './session-place.ts'

const FACE = '.claude/ralph-loop.local.md'

const promised = (text: string) => `All of it is done.\n<promise>${text}</promise>`

/** A place without git and a session in it, with a loop started with these arguments. */
async function looping(args: string, how: { git?: boolean; env?: Record<string, string> } = {}): Promise<Looping> {
  const place = makePlace({ git: how.git ?? false })
  const session = openSession(place, how.env ? { env: how.env } : {})
  const begun = await session.type(`/ralph:loop ${args}`)
  expect(begun).toMatchObject({ code: 0, err: '', said: expect.stringContaining('loop started') })
  return { place, session, begun, loop: onlyLoop(place) }
}

type Looping = { place: Place; session: Session; begun: HookResult; loop: string }

const isArmed = (place: Place, session = 's-1') => existsSync(join(place.home, 'armed', session))

const PASSES = { code: 0, out: '', err: '' }

/** Which iteration the agent is asked for; 0 if it may stop. */
function asked({ prompt }: HookResult): number {
  return Number(/This is iteration (\d+)/.exec(prompt)?.[1] ?? 0)
}

function edit(place: Place, from: string | RegExp, to: string, name = FACE): void {
  place.write(name, face(place, name).replace(from, to))
}

describe.concurrent('what goes wrong elsewhere', () => {
  test.each<[defect: string, args: string, most: string, promise: string]>([
    ['a limit given with = is a limit', 'Build it --max-iterations=3 --completion-promise=X', '3', '"X"'],
    ['octal-looking numbers are decimal', 'Build it --max-iterations 08', '8', '"COMPLETE"'],
    ['a limit before the prompt is a limit', '--max-iterations 4 Build it', '4', '"COMPLETE"'],
    ['a promise keeps its quotes and blanks', `Build it --completion-promise 'ALL  "DONE"'`, '10', '"ALL  \\"DONE\\""'],
    ['0 is no limit', 'Build it --max-iterations 0', '0', '"COMPLETE"'],
    ['without a promise it is that of `ralph run`', 'Build it', '10', '"COMPLETE"'],
  ])('%s', async (_, args, most, promise) => {
    const { place, begun } = await looping(args)
    expect([field(place, 'max_iterations'), field(place, 'completion_promise')]).toEqual([most, promise])
    expect(face(place).endsWith('---\n\nBuild it\n')).toBe(true)
    expect(begun.prompt.startsWith('Build it\n')).toBe(true)
  })

  test('a promise only in last_assistant_message is seen', async () => {
    const { place, session } = await looping('Build it --completion-promise DONE')
    writeFileSync(join(place.root, 's-1.jsonl'), '')
    expect((await session.work(promised('DONE'))).said).toContain('done after 1')
    expect([isArmed(place), existsSync(join(place.dir, FACE))]).toEqual([false, false])
  })

  test.each<[defect: string, promise: string, message: string]>([
    ['a bare word DONE ends nothing', 'DONE', 'DONE'],
    ['a tag quoted in prose ends nothing', 'DONE', 'I will print <promise>DONE</promise> when the tests pass.'],
    ['a tag in a code block ends nothing', 'DONE', 'It goes like this:\n```\n<promise>DONE</promise>\n```'],
    ['a tag with other words ends nothing', 'DONE', '<promise>ALMOST DONE</promise>'],
    ['a tag after a denial ends nothing', 'DONE', 'It is not done yet, so I cannot say <promise>DONE</promise>'],
    ['text that contains the promise ends nothing', 'DONE', 'NOT DONE AT ALL, DONE IS FAR AWAY'],
  ])('%s', async (_, promise, message) => {
    const { session } = await looping(`Build it --completion-promise ${promise}`)
    expect(asked(await session.work(message))).toBe(2)
  })

  test.each<[defect: string, promise: string, message: string]>([
    [
      'an earlier other tag does not hide the real one',
      'DONE',
      '<promise>PART</promise> was said.\n\n<promise>DONE</promise>',
    ],
    ['a promise with two blanks matches', '"ALL  DONE"', '<promise>ALL DONE</promise>'],
    ['a promise broken over two lines matches', '"ALL DONE"', '<promise>ALL\nDONE</promise>'],
    ['a promise with quotes matches', `'it "works"'`, '<promise>it "works"</promise>'],
    ['a promise with pattern characters matches', '"a.*[b](c)$"', '<promise>a.*[b](c)$</promise>'],
    ['a promise with a glob is not a glob', '"*"', '<promise>*</promise>'],
  ])('%s', async (_, promise, message) => {
    const { session } = await looping(`Build it --completion-promise ${promise}`)
    expect(await session.work(message)).toMatchObject({
      prompt: '',
      said: expect.stringContaining('ralph: done after 1'),
    })
  })

  test('a promise with a glob is not kept by any text', async () => {
    const { session } = await looping('Build it --completion-promise "*"')
    expect(asked(await session.work('<promise>anything</promise>'))).toBe(2)
  })

  test('a transcript without an assistant line does not end the loop', async () => {
    const { place, session } = await looping('Build it')
    writeFileSync(join(place.root, 's-1.jsonl'), '{"type":"user","message":{"role":"user","content":"hi"}}\n')
    expect(asked(await session.work('', { last_assistant_message: undefined }))).toBe(2)
  })

  test('a missing transcript costs no time', async () => {
    const { place, session } = await looping('Build it')
    place.write('a', '1')
    const begun = performance.now()
    const result = await session.stop('', { last_assistant_message: undefined, transcript_path: undefined })
    expect([asked(result), performance.now() - begun < 1_500]).toEqual([2, true])
  })

  test('a stale promise of an earlier turn ends nothing', async () => {
    const { place, session } = await looping('Build it --completion-promise DONE')
    const lines = [
      { type: 'user', message: { role: 'user', content: 'Build something else' } },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: promised('DONE') }] } },
      { type: 'user', message: { role: 'user', content: '/ralph:loop Build it' } },
      { type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash', input: {} }] } },
      { type: 'user', message: { role: 'user', content: [{ type: 'tool_result', content: 'ok' }] } },
    ]
    writeFileSync(join(place.root, 's-1.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(asked(await session.work('', { last_assistant_message: undefined }))).toBe(2)
  })

  test('a cd by the agent does not lose the loop', async () => {
    const { place, session, loop } = await looping('Build it')
    mkdirSync(join(place.dir, 'sub'))
    const cwd = join(place.dir, 'sub')
    expect(asked(await session.work('x', { cwd }, { cwd, env: { CLAUDE_PROJECT_DIR: place.dir } }))).toBe(2)
    expect(asked(await session.work('x', { cwd: '/' }, { cwd: '/' }))).toBe(3)
    expect(existsSync(join(cwd, '.claude'))).toBe(false)
    expect(answerOf(await session.type('/ralph:status', { cwd }))).toContain(loop)
  })

  test('the loop belongs to the project, wherever the agent is when it starts', async () => {
    const place = makePlace({ git: false })
    mkdirSync(join(place.dir, 'sub'))
    const env = { CLAUDE_PROJECT_DIR: place.dir }
    await openSession(place, { env }).type('/ralph:loop Build it', { cwd: join(place.dir, 'sub') })
    expect(existsSync(join(place.dir, FACE))).toBe(true)
  })

  test('a session without a loop is never trapped', async () => {
    const { place } = await looping('Build it --max-iterations 0')
    const other = openSession(place, { id: 's-2' })
    expect(await other.stop()).toMatchObject(PASSES)
    expect(await other.type('what is ralph-loop good for?')).toMatchObject(PASSES)
    expect(await other.stop(promised('DONE'))).toMatchObject(PASSES)
    expect(isArmed(place)).toBe(true)
  })

  test("an id that starts like a looping session's is another session", async () => {
    const { place } = await looping('Build it')
    for (const id of ['s-10', 's-', 'xs-1', 's']) expect(await openSession(place, { id }).stop()).toMatchObject(PASSES)
  })

  test('a session without a usable id gets no loop and is not trapped', async () => {
    const place = makePlace({ git: false })
    for (const id of ['', '../../escape', 'x'.repeat(200), '-rf', '*']) {
      const session = openSession(place, { id })
      const result = await session.type('/ralph:loop Build it')
      expect([id, result.code, result.prompt.includes('This is iteration')]).toEqual([id, 0, false])
      expect(await session.stop()).toMatchObject(PASSES)
    }
    expect(existsSync(join(place.root, 'escape'))).toBe(false)
  })

  test('a second loop does not overwrite the first', async () => {
    const { place, session, loop } = await looping('Build it --completion-promise ONE')
    const before = face(place)
    expect(answerOf(await session.type('/ralph:loop Build more'))).toContain(`This session already has loop ${loop}`)
    expect(face(place)).toBe(before)

    const other = openSession(place, { id: 's-2' })
    expect((await other.type('/ralph:loop Build more --completion-promise TWO')).said).toContain('loop started')
    expect(face(place)).toBe(before)
    expect(field(place, 'session_id', '.claude/ralph-loop.s-2.local.md')).toBe('"s-2"')

    place.write('a', '1')
    expect((await other.stop(promised('ONE'))).prompt).toContain('<promise>TWO</promise>')
    expect((await session.stop(promised('TWO'))).prompt).toContain('<promise>ONE</promise>')
    expect((await other.stop(promised('TWO'))).said).toContain('done after 2')
    expect((await session.stop(promised('ONE'))).said).toContain('done after 2')
    expect(existsSync(join(place.dir, '.claude'))).toBe(false)
  })

  test('a file of another session in its place is ignored', async () => {
    const { place, session } = await looping('Build it')
    edit(place, '"s-1"', '"somebody-else"')
    expect(await session.work()).toMatchObject({ prompt: '', said: expect.stringContaining('another session') })
  })

  test('a runaway without a promise ends at the default limit', async () => {
    const { place, session } = await looping('Build it')
    for (let iteration = 2; iteration <= 10; iteration++) expect(asked(await session.work())).toBe(iteration)
    expect((await session.work()).said).toContain('stopped after 10 iterations (max-iterations)')
    expect(await session.work()).toMatchObject(PASSES)
    expect([isArmed(place), existsSync(join(place.dir, FACE))]).toEqual([false, false])
  })

  test('a loop that gets nowhere ends before its limit', async () => {
    const { session } = await looping('Build it --max-iterations 0')
    await session.stop()
    await session.stop()
    expect((await session.stop()).said).toContain('no-progress')
  })

  test('a hook inside an agent that ralph started does nothing', async () => {
    const { session } = await looping('Build it')
    const env = { RALPH_LOOP_ID: 'abc' }
    expect(await session.work('x', {}, { env })).toMatchObject(PASSES)
    expect(await session.type('/ralph:cancel', {}, { env })).toMatchObject(PASSES)
    expect(asked(await session.work())).toBe(2)
  })

  const HOSTILE = [
    `it's "here" $(touch PWNED) \`touch PWNED\` \${HOME} \\ ! & | ; > PWNED < x * %s %n $1 $ARGUMENTS {{args}} !{touch PWNED} @file`,
    'line 1\n---\nactive: false\n---\n\n\n\tline 2  🎉 \u2028 \u0007',
    `don't stop; touch PWNED --unknown-flag --x=y -z -- stays`,
  ]
  test.each(HOSTILE)('the prompt %j arrives as typed, and nothing in it is executed', async (prompt) => {
    const { place, session, begun } = await looping(prompt)
    expect(begun.prompt.startsWith(`${prompt}\n\n---\n\nThis is iteration 1`)).toBe(true)
    expect(face(place).endsWith(`---\n\n${prompt}\n`)).toBe(true)
    const second = await session.work('$(touch PWNED) `touch PWNED`')
    expect(asked(second)).toBe(2)
    expect(second.said).toBe('ralph: iteration 2 of 10')
    expect(query(place, "SELECT n FROM event WHERE json_extract(fact, '$.kind') = 'told'")).toEqual([])
    await session.type('/ralph:pause')
    const third = await session.type('/ralph:resume')
    expect(third.prompt.startsWith(`${prompt}\n\n---\n\nThis is iteration 2`)).toBe(true)
    expect([existsSync(join(place.dir, 'PWNED')), existsSync('PWNED')]).toEqual([false, false])
  })
})

describe.concurrent('bad input', () => {
  test('a payload without content is silently ignored', async () => {
    const { place } = await looping('Build it')
    const payloads = [
      '',
      'garbage s-1',
      '[]',
      'null "s-1"',
      '{"session_id":"s-1"',
      '{"session_id":"s-1"}',
      '{"session_id":7,"hook_event_name":"Stop","cwd":"/"} s-1',
      JSON.stringify({
        session_id: 's-1',
        cwd: place.dir,
        hook_event_name: 'SubagentStop',
        last_assistant_message: 'x',
      }),
      JSON.stringify({ session_id: 's-1', cwd: place.dir, hook_event_name: 'StopFailure', error: 'rate_limit' }),
      JSON.stringify({ session_id: 's-1', cwd: place.dir, hook_event_name: { a: 1 } }),
      `\uFEFF\0\u0001s-1`,
    ]
    for (const payload of payloads)
      expect([payload, await callGate(place, 'stop', payload).ended]).toMatchObject([payload, PASSES])
    for (const payload of payloads.slice(-4))
      expect([payload, await callGate(place, 'prompt', payload).ended]).toMatchObject([payload, PASSES])
    expect(query(place, 'SELECT n FROM event')).toEqual([])
  })

  test('fields of the wrong type are not trusted', async () => {
    const { session } = await looping('Build it')
    const odd = { transcript_path: 7, background_tasks: 'many', stop_hook_active: 'no', outcome: [], status: {} }
    expect(asked(await session.work('x', { ...odd, last_assistant_message: ['x'] }))).toBe(2)
    expect(asked(await session.work('x', { background_tasks: [null, 3, {}].slice(0, 0), tokens: 'x', ran: 'x' }))).toBe(
      3,
    )
  })

  test('5 MB of text are read, as an answer and as a prompt', async () => {
    const long = 'word '.repeat(1 << 20)
    const { session } = await looping(`"Build it ${long}x" --completion-promise DONE`)
    expect((await session.work(`${long}\n${promised('DONE')}`)).said).toContain('done after 1')
    expect(await session.type(`tell me about ralph-loop ${long}`)).toMatchObject(PASSES)
  })

  /** A folder with these programs and no others. */
  function only(place: Place, ...programs: string[]): string {
    const bin = join(place.root, 'bin')
    mkdirSync(bin)
    for (const program of programs)
      symlinkSync(execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim(), join(bin, program))
    return bin
  }

  test('any shell and any folder name works', async () => {
    const place = makePlace({ git: false })
    const odd = join(place.root, `a b's [x]* $(touch PWNED)`)
    place.write(`../${odd.slice(place.root.length + 1)}/plugin/claude/hook.sh`, readFileSync(GATE, 'utf8'))
    mkdirSync(join(odd, 'dist'))
    for (const name of ['hook.cjs', 'hook-more.cjs']) symlinkSync(join(PROGRAM, '..', name), join(odd, 'dist', name))
    const gate = join(odd, 'plugin', 'claude', 'hook.sh')
    const session = openSession(place, { env: { RALPH_HOME: join(odd, 'home') } })
    expect(asked(await session.type('/ralph:loop Build it', {}, { gate }))).toBe(1)
    expect(asked(await session.work('x', {}, { gate }))).toBe(2)
    const shells = ['bash', 'dash', 'busybox'].filter(
      (shell) => existsSync(`/bin/${shell}`) || existsSync(`/usr/bin/${shell}`),
    )
    for (const [at, shell] of shells.entries()) {
      expect([shell, asked(await session.work('x', {}, { gate, shell }))]).toEqual([shell, 3 + at])
      expect(await openSession(place, { id: 's-2' }).stop('x', {}, { gate, shell })).toMatchObject(PASSES)
    }
    expect([existsSync(join(place.dir, 'PWNED')), existsSync(join(place.root, 'PWNED'))]).toEqual([false, false])
  })

  test('without Node the stop passes, with one message', async () => {
    const { place, session } = await looping('Build it')
    const env = { PATH: only(place, 'sh', 'cat', 'dirname', 'mkdir', 'grep'), RALPH_NODE: '' }
    expect(await session.work('x', {}, { env })).toMatchObject({
      code: 0,
      err: '',
      prompt: '',
      said: expect.stringContaining('Node 22.19 or newer was not found'),
    })
    expect(await session.work('x', {}, { env })).toMatchObject(PASSES)
    expect(await session.type('hello', {}, { env })).toMatchObject(PASSES)
    expect(asked(await session.work())).toBe(2)
  })

  test('without Node and with a read-only home the session is not trapped either', async () => {
    const place = makePlace({ git: false })
    const env = { PATH: only(place, 'sh', 'cat', 'dirname', 'mkdir', 'grep'), RALPH_NODE: '', RALPH_HOME: '/proc/sys' }
    expect(await openSession(place).type('/ralph:loop x', {}, { env })).toMatchObject({
      code: 0,
      err: '',
      prompt: '',
      said: expect.stringContaining('was not found'),
    })
  })

  test('with a Node that is too old the stop passes, with one message', async () => {
    const { place, session } = await looping('Build it')
    place.write('../old.cjs', "Object.defineProperty(process, 'versions', { value: { node: '20.11.1' } })\n")
    place.write('../old-node', `#!/bin/sh\nexec '${process.execPath}' --require '${place.root}/old.cjs' "$@"\n`, 0o755)
    const env = { RALPH_NODE: join(place.root, 'old-node') }
    expect((await session.work('x', {}, { env })).said).toContain('ralph needs Node 22.19 or newer')
    expect(await session.work('x', {}, { env })).toMatchObject(PASSES)
    expect(asked(await session.work())).toBe(2)
  })

  test('without its program the gate lets everything pass, with one message', async () => {
    const { place, session } = await looping('Build it')
    place.write('../alone/claude/hook.sh', readFileSync(GATE, 'utf8'), 0o755)
    const alone = { gate: join(place.root, 'alone', 'claude', 'hook.sh') }
    expect(await session.work('x', {}, alone)).toMatchObject({
      code: 0,
      err: '',
      prompt: '',
      said: expect.stringContaining('the ralph program (npm install -g ralphloop) was not found'),
    })
    expect(await session.work('x', {}, alone)).toMatchObject(PASSES)
    // What `ralph install` creates.
    symlinkSync(PROGRAM, join(place.home, 'hook.cjs'))
    symlinkSync(process.execPath, join(place.home, 'node'))
    expect(asked(await session.work('x', {}, { ...alone, env: { RALPH_NODE: '', PATH: '/usr/bin:/bin' } }))).toBe(2)
  })

  test('a home that cannot be written is reported, and does not trap the session', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place, { env: { RALPH_HOME: '/proc/sys' } })
    expect(answerOf(await session.type('/ralph:loop Build it'))).toContain('set RALPH_HOME to another folder')
    expect(await session.stop()).toMatchObject(PASSES)
    const inAFile = openSession(place, { env: { RALPH_HOME: join(place.dir, 'file', 'home') } })
    place.write('file', '')
    expect(answerOf(await inAFile.type('/ralph:loop Build it'))).toContain('a file is in the way')
  })

  test('a missing folder is reported', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place)
    const cwd = join(place.dir, 'gone')
    expect(answerOf(await session.type('/ralph:loop Build it', { cwd }))).toContain(`Folder not found: ${cwd}`)
    expect(answerOf(await session.type('/ralph:status', { cwd }))).toContain(`Folder not found: ${cwd}`)
  })

  test('a damaged armed file does not trap the session, and the loop is not lost', async () => {
    const { place, session, loop } = await looping('Build it')
    for (const text of ['', '{', '[]', 'null', '{"loop":7}', '{"loop":"x","host":"nobody","face":""}']) {
      writeFileSync(join(place.home, 'armed', 's-1'), text)
      expect(await session.work()).toMatchObject(PASSES)
    }
    expect(answerOf(await session.type('/ralph:status'))).toContain(`Also in this folder: loop ${loop}`)
    expect(asked(await session.type(`/ralph:resume ${loop}`))).toBe(1)
    expect(asked(await session.work())).toBe(2)
  })

  test('a damaged database is reported, and does not trap the session', async () => {
    const { place, session } = await looping('Build it')
    for (const end of ['-wal', '-shm']) rmSync(join(place.home, `ralph.db${end}`), { force: true })
    writeFileSync(join(place.home, 'ralph.db'), 'x'.repeat(8_192))
    expect(await session.work()).toMatchObject({ code: 0, prompt: '', said: expect.stringContaining('is damaged') })
    expect((await session.type('something else')).said).toContain('is damaged')
    expect(answerOf(await session.type('/ralph:status'))).toContain('is damaged')
  })

  test('a missing database is reported, does not trap the session, and is rebuilt with the loop in it', async () => {
    const { place, session } = await looping('Build it')
    for (const end of ['', '-wal', '-shm']) rmSync(join(place.home, `ralph.db${end}`), { force: true })
    const gone = 'ralph.db is missing, but the transcripts of a loop are still there. `ralph doctor --rebuild`'
    expect(await session.work()).toMatchObject({ code: 0, prompt: '', said: expect.stringContaining(gone) })
    expect(answerOf(await session.type('/ralph:status'))).toContain(gone)
    expect((await place.ralph(['doctor', '--rebuild'])).stdout).toContain('1 loop')
    expect(asked(await session.work())).toBe(2)
  })

  test('a database that lost the loop releases the session', async () => {
    const { place, session, loop } = await looping('Build it')
    for (const end of ['', '-wal', '-shm']) rmSync(join(place.home, `ralph.db${end}`), { force: true })
    rmSync(join(place.home, 'transcripts'), { recursive: true })
    expect(await session.work()).toMatchObject({
      prompt: '',
      said: expect.stringContaining(`loop ${loop} no longer exists`),
    })
    expect(await session.work()).toMatchObject(PASSES)
    expect((await session.type('/ralph:loop Build anew')).said).toContain('loop started')
  })

  test.each<[what: string, make: (path: string, place: Place) => void, why: string]>([
    [
      'a link to elsewhere',
      (path, place) => {
        rmSync(path)
        place.write('../elsewhere.md', '---\nmax_iterations: 1\n---\n\nEvil\n')
        symlinkSync('../../elsewhere.md', path)
      },
      'it is now a symbolic link',
    ],
    [
      'a folder',
      (path) => {
        rmSync(path)
        mkdirSync(path)
      },
      'it is not a regular file',
    ],
  ])('a face that became %s is left alone', async (_, make, why) => {
    const { place, session } = await looping('Build it --completion-promise DONE')
    make(join(place.dir, FACE), place)
    const before = lstatSync(join(place.dir, FACE)).ino
    const result = await session.work()
    expect(result.said).toContain(`${FACE} is left alone: ${why}.`)
    expect(result.prompt.startsWith('Build it\n')).toBe(true)
    expect((await session.work(promised('DONE'))).said).toContain('done after 2')
    expect(lstatSync(join(place.dir, FACE)).ino).toBe(before)
    if (existsSync(join(place.root, 'elsewhere.md'))) expect(place.read('../elsewhere.md')).toContain('Evil')
  })

  test('a face of another user is left alone', async ({ skip }) => {
    skip(process.getuid?.() !== 0, 'only root can give files away')
    const { place, session } = await looping('Build it')
    edit(place, 'Build it', 'Evil')
    chownSync(join(place.dir, FACE), 65_534, 65_534)
    const result = await session.work()
    expect(result.said).toContain('it belongs to another user')
    expect(result.prompt.startsWith('Build it\n')).toBe(true)
  })

  test('a face that cannot be read is left alone', async ({ skip }) => {
    skip(process.getuid?.() === 0, 'root may read everything')
    const { place, session } = await looping('Build it')
    chmodSync(join(place.dir, FACE), 0)
    expect(await session.work()).toMatchObject({ said: expect.stringContaining('it cannot be read') })
  })

  test('a damaged face is renamed and rewritten', async () => {
    const { place, session } = await looping('Build it')
    place.write(FACE, 'garbage')
    expect((await session.work()).said).toContain(`${FACE} was damaged`)
    expect(field(place, 'iteration')).toBe('2')
    const aside = readdirSync(join(place.dir, '.claude')).filter((name) => name.includes('.broken-'))
    expect(aside.map((name) => place.read(`.claude/${name}`))).toEqual(['garbage'])
  })

  test.each<[what: string, make: (place: Place) => void]>([
    ['leads out of the project', (place) => symlinkSync(place.root, join(place.dir, '.claude'))],
    ['leads nowhere', (place) => symlinkSync('nowhere/at/all', join(place.dir, '.claude'))],
    ['is a file', (place) => place.write('.claude', '')],
  ])('if the folder of the face %s, the loop continues without one', async (_, make) => {
    const place = makePlace({ git: false })
    make(place)
    const session = openSession(place)
    expect((await session.type('/ralph:loop Build it --completion-promise DONE')).said).toContain('loop started')
    expect(asked(await session.work())).toBe(2)
    expect((await session.work(promised('DONE'))).said).toContain('done after 2')
    expect(existsSync(join(place.root, 'ralph-loop.local.md'))).toBe(false)
  })

  test('a file in place of the face that is not a face is kept', async () => {
    const place = makePlace({ git: false })
    place.write(FACE, 'my own notes\n')
    const session = openSession(place)
    await session.type('/ralph:loop Build it')
    expect(asked(await session.work())).toBe(2)
    await session.type('/ralph:cancel')
    expect(place.read(FACE)).toBe('my own notes\n')
  })

  test('a clock that is set back ends nothing', async () => {
    const { place, session } = await looping('Build it --timeout 5')
    const database = new DatabaseSync(join(place.home, 'ralph.db'))
    const later = Date.now() + 86_400_000
    database.exec(`UPDATE loop SET tally = json_set(tally, '$.startedAt', ${later}), updated_at = ${later}`)
    database.close()
    expect(asked(await session.work())).toBe(2)
    expect(asked(await session.work())).toBe(3)
    expect(answerOf(await session.type('/ralph:status'))).toContain('iteration 3 of 10')
  })

  test('wrong use is refused with a sentence, and no loop starts', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place)
    const wrong: [args: string, says: string][] = [
      ['', 'No prompt given'],
      ['--max-iterations 3', 'No prompt given'],
      ['x --max-iteration 3', 'Did you mean --max-iterations?'],
      ['x --max-iterations', '--max-iterations needs a value'],
      ['x --max-iterations ten', 'must be a whole number, got "ten"'],
      ['x --max-iterations -1', 'must be a whole number, got "-1"'],
      ['x --verify "a | b"', 'which needs a shell'],
      ['x --context fresh', 'not available in Claude Code'],
      ['--file nowhere.md', 'does not exist'],
    ]
    for (const [args, says] of wrong)
      expect([args, answerOf(await session.type(`/ralph:loop ${args}`))]).toEqual([args, expect.stringContaining(says)])
    expect([isArmed(place), existsSync(join(place.dir, '.claude'))]).toEqual([false, false])
    expect(query(place, 'SELECT id FROM loop')).toEqual([])
  })
})

describe.concurrent('checks', () => {
  test("the agent's claim is not enough, and the check results are shown", async () => {
    const { place, session, begun } = await looping('Build it --completion-promise DONE --verify "test -e done.txt"')
    expect(begun.said).toContain('checked by test -e done.txt')
    expect(begun.said).toContain('ralph: before: test -e done.txt fails')
    const refused = await session.work(promised('DONE'))
    expect([asked(refused), refused.said]).toEqual([2, 'ralph: iteration 2 of 10 · refused: test -e done.txt fails'])
    expect(refused.prompt).toContain('You said you were done, but you are not')
    place.write('done.txt', '')
    expect((await session.work(promised('DONE'))).said).toBe(
      'ralph: done after 2 iterations, proof: verified. `test -e done.txt` failed before the loop began and passes now.',
    )
    expect(isArmed(place)).toBe(false)
  })

  test('a check that cannot be started is reported', async () => {
    const { session } = await looping('Build it --verify no-such-program --completion-promise DONE')
    expect((await session.work(promised('DONE'))).said).toContain('verifier-broken')
  })

  test('a check that times out is stopped, and the loop continues', async () => {
    const place = makePlace({ git: false })
    place.write('../check', '#!/bin/sh\n[ -e work.txt ] || exit 1\nsleep 600\n', 0o755)
    const session = openSession(place)
    await session.type(`/ralph:loop Build it --completion-promise DONE --verify "${place.root}/check"`)
    place.write('work.txt', 'x')
    const database = new DatabaseSync(join(place.home, 'ralph.db'))
    database.exec(`UPDATE loop SET spec = json_set(spec, '$.work.checkMinutes', 0.003)`)
    database.close()
    expect((await session.work(promised('DONE'))).said).toBe(
      `ralph: iteration 2 of 10 · refused: ${place.root}/check timed out`,
    )
    expect(carriers(`RALPH_LOOP_ID=${onlyLoop(place)}`)).toEqual([])
  })

  /** A loop whose check fails before any work and then waits for a file; a hook in the middle of that check, and its process. */
  async function checking(): Promise<Looping & { hook: ReturnType<typeof callGate>; check: number; program: number }> {
    const place = makePlace({ git: false })
    place.write(
      '../check',
      `#!/bin/sh\n[ -e work.txt ] || exit 1\necho $$ >> '${place.root}/checks'\nwhile [ ! -e '${place.root}/go' ]; do sleep 0.05; done\n[ ! -e '${place.root}/fails' ]\n`,
      0o755,
    )
    const session = openSession(place)
    const begun = await session.type(`/ralph:loop Build it --completion-promise DONE --verify "${place.root}/check"`)
    place.write('work.txt', 'x')
    const hook = callGate(place, 'stop', session.stopPayload(promised('DONE')))
    const check = await until('the check', () => checks(place)[0])
    const program = Number(/\) \S+ (\d+)/.exec(readFileSync(`/proc/${check}/stat`, 'latin1'))?.[1])
    return { place, session, begun, loop: onlyLoop(place), hook, check, program }
  }

  const checks = (place: Place) =>
    existsSync(join(place.root, 'checks')) ? place.read('../checks').trim().split('\n').map(Number) : []

  const turns = (place: Place) => query(place, 'SELECT n FROM iteration').length

  test('kill -9 in the middle of a check costs nothing, and no iteration is counted twice', async () => {
    const { place, session, loop, hook, check, program } = await checking()
    process.kill(program, 'SIGKILL')
    expect(await hook.ended).toMatchObject({ code: 0, out: '' })
    expect([turns(place), isArmed(place)]).toEqual([1, true])
    expect(answerOf(await session.type('/ralph:status'))).toContain('the checks did not finish')

    const next = callGate(place, 'stop', session.stopPayload('I said so.'))
    await until('the second check', () => checks(place).length === 2)
    expect(carriers(`RALPH_LOOP_ID=${loop}`)).not.toContain(check)
    writeFileSync(join(place.root, 'go'), '')
    expect((await next.ended).said).toContain('done after 1 iteration, proof: verified')
    expect(turns(place)).toBe(1)
  })

  test('SIGTERM during a check stops it; the user sees how to continue', async () => {
    const { place, session, loop, hook, program } = await checking()
    process.kill(program, 'SIGTERM')
    expect(await hook.ended).toMatchObject({
      prompt: '',
      said: expect.stringContaining('/ralph:resume runs them again'),
    })
    expect(carriers(`RALPH_LOOP_ID=${loop}`)).toEqual([])
    writeFileSync(join(place.root, 'go'), '')
    expect(answerOf(await session.type('/ralph:resume'))).toContain('done after 1 iteration, proof: verified')
  })

  test('other text typed after a killed check pauses the loop', async () => {
    const { place, session, hook, program } = await checking()
    process.kill(program, 'SIGKILL')
    await hook.ended
    writeFileSync(join(place.root, 'go'), '')
    expect((await session.type('what is this?')).said).toContain('ralph: paused after 1 iteration')
    expect(await session.stop('It is a loop.')).toMatchObject(PASSES)
    expect(answerOf(await session.type('/ralph:resume'))).toContain('done after 1 iteration, proof: verified')
  })

  test('a cancel while checks run stops them', async () => {
    const { place, session, loop, hook } = await checking()
    expect(answerOf(await session.type('/ralph:cancel'))).toContain(`cancel requested for loop ${loop}`)
    expect((await hook.ended).said).toContain('cancelled after 1 iteration')
    expect([carriers(`RALPH_LOOP_ID=${loop}`), isArmed(place)]).toEqual([[], false])
  })

  test('a pause while checks run takes effect after them', async () => {
    const { place, session, loop, hook } = await checking()
    writeFileSync(join(place.root, 'fails'), '')
    expect(answerOf(await session.type('/ralph:pause'))).toContain(`pause requested for loop ${loop}`)
    writeFileSync(join(place.root, 'go'), '')
    expect(await hook.ended).toMatchObject({ prompt: '', said: expect.stringContaining('paused after 1 iteration') })
    expect(asked(await session.type('/ralph:resume'))).toBe(2)
  })

  test('a second hook during a check does not count the turn again', async () => {
    const { place, session, hook } = await checking()
    expect(await session.stop(promised('DONE'))).toMatchObject({ code: 0, prompt: '' })
    writeFileSync(join(place.root, 'go'), '')
    expect((await hook.ended).said).toContain('done after 1 iteration')
    expect(turns(place)).toBe(1)
  })

  test('two hooks of one session at the same time count a turn once', async () => {
    const { place, session } = await looping('Build it')
    place.write('work.txt', 'x')
    // Each waits inside its Node, so that all three have started before one of them answers.
    const [path, barrier] = [join(place.root, 'all-at-once'), join(place.root, 'barrier.cjs')]
    writeFileSync(
      barrier,
      `const { readdirSync, writeFileSync } = require('node:fs')
      const root = ${JSON.stringify(place.root)}
      const cell = new Int32Array(new SharedArrayBuffer(4))
      writeFileSync(root + '/begun.' + process.pid, '')
      while (readdirSync(root).filter((name) => name.startsWith('begun.')).length < 3) Atomics.wait(cell, 0, 0, 5)`,
    )
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' --require '${barrier}' "$@"\n`, { mode: 0o755 })
    const stop = () => session.stop(undefined, undefined, { env: { RALPH_NODE: path } })
    const answers = await Promise.all([stop(), stop(), stop()])
    expect(answers.map(asked).filter(Boolean)).toEqual([2])
    expect(turns(place)).toBe(1)
    expect(asked(await session.work())).toBe(3)
  })
})

describe.concurrent('a plugin that is installed twice', () => {
  const twice = <Result>(act: () => Promise<Result>) => Promise.all([act(), act()])

  test('starts one loop', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place)
    const begun = await twice(() => session.type('/ralph:loop Build it'))
    expect(begun.map(asked)).toContain(1)
    expect(begun.map(answerOf)).toEqual(['', ''])
    expect([field(place, 'loop_id'), readdirSync(join(place.dir, '.claude'))]).toEqual([
      `"${onlyLoop(place)}"`,
      ['ralph-loop.local.md'],
    ])
  })

  test('takes an answer once', async () => {
    const { session } = await looping('Build it')
    await session.work('<ask>Tabs or blanks?</ask>')
    const answers = await twice(() => session.type('Tabs.'))
    expect(answers.map(asked).sort()).toEqual([0, 2])
    expect((await session.work()).prompt).toContain('iteration 3')
  })
})

describe.concurrent('a user in the session', () => {
  test('pauses, looks and resumes', async () => {
    const { session, loop } = await looping('Build it --max-iterations 5')
    await session.work()
    expect(answerOf(await session.type('/ralph:pause'))).toContain(
      'ralph: paused after 1 iteration. Resume here with /ralph:resume',
    )
    expect(await session.stop('A turn that was under way.')).toMatchObject(PASSES)
    expect(answerOf(await session.type('/ralph:pause'))).toContain('paused after 1 iteration')
    expect(answerOf(await session.type('/ralph:status'))).toContain(`\nLoop ${loop}: 1 of 5 iterations finished.`)
    expect(asked(await session.type('/ralph:resume'))).toBe(2)
    expect(asked(await session.work())).toBe(3)
  })

  test('pauses the loop by typing something else, and is notified once', async () => {
    const { place, session } = await looping('Build it')
    expect((await session.type('what is this?')).said).toContain('ralph: paused after 0 iterations')
    expect(field(place, 'active')).toBe('false')
    expect(await session.stop('It is a loop.')).toMatchObject(PASSES)
    expect(await session.type('and this?')).toMatchObject(PASSES)
    expect(await session.stop('That, too.')).toMatchObject(PASSES)
    expect(asked(await session.type('/ralph:resume'))).toBe(1)
    expect(field(place, 'active')).toBe('true')
    expect((await session.type('stop that')).said).toContain('ralph: paused after 0 iterations')
  })

  test('does the same after Esc, when no hook was called', async () => {
    const { session } = await looping('Build it')
    expect(asked(await session.type('/ralph:resume'))).toBe(1)
    expect(asked(await session.work())).toBe(2)
  })

  test('answers a question of the agent, and the loop continues', async () => {
    const { place, session } = await looping('Build it')
    const question = await session.work('I stand before a choice.\n<ask>Tabs or blanks?</ask>')
    expect(question).toMatchObject({ prompt: '', said: expect.stringContaining('the agent asks: Tabs or blanks?') })
    expect((await place.ralph(['status'])).stdout).toContain('needs-input')
    const answer = await session.type('Tabs, of course.')
    expect([asked(answer), answer.prompt.includes('> A person says: Tabs, of course.')]).toEqual([2, true])
    const next = await session.work()
    expect([asked(next), next.prompt.includes('Tabs')]).toEqual([3, false])
  })

  test('cancels, or gets the message that there is nothing to cancel', async () => {
    const { place, session } = await looping('Build it')
    expect(answerOf(await session.type('/ralph:cancel'))).toContain('cancelled after 0 iterations')
    expect([isArmed(place), existsSync(join(place.dir, FACE))]).toEqual([false, false])
    expect(answerOf(await session.type('/cancel-ralph'))).toContain('no loop is active in this session')
    expect(answerOf(await session.type('/ralph:resume'))).toContain('no loop is active in this session')
    expect(answerOf(await session.type('/ralph:resume nonsense'))).toContain('No such loop: nonsense')
    expect(await session.stop()).toMatchObject(PASSES)
  })

  test('background tasks pass uncounted', async () => {
    const { place, session } = await looping('Build it')
    const task = { id: 'b3yj1z47z', type: 'shell', status: 'running', description: 'bg', command: 'sleep 6' }
    expect(await session.work('x', { background_tasks: [task] })).toMatchObject({ code: 0, prompt: '' })
    expect(query(place, 'SELECT n FROM iteration')).toEqual([])
    expect(asked(await session.work('x', { background_tasks: [{ ...task, status: 'completed' }] }))).toBe(2)
  })

  test('finds the loop after /clear and takes it over once it is paused', async () => {
    const { place, session, loop } = await looping('Build it --max-iterations 5')
    await session.work()
    const fresh = openSession(place, { id: 's-new' })
    expect(await fresh.stop()).toMatchObject(PASSES)
    expect(answerOf(await fresh.type('/ralph:status'))).toContain(
      `loop ${loop}, running in another session of Claude Code`,
    )
    expect(answerOf(await fresh.type(`/ralph:resume ${loop}`))).toContain(`Pause it first: ralph pause ${loop}`)
    await place.ralph(['pause', loop])
    expect(asked(await fresh.type(`/ralph:resume ${loop.slice(0, 4)}`))).toBe(2)
    expect(field(place, 'session_id')).toBe('"s-new"')
    expect(await session.stop()).toMatchObject(PASSES)
    expect(asked(await fresh.work())).toBe(3)
    expect([isArmed(place), isArmed(place, 's-new')]).toEqual([false, true])
  })

  test('cannot take over a loop of another folder, one that ended, or one that is running', async () => {
    const { place, session, loop } = await looping('Build it')
    await session.type('/ralph:pause')
    const elsewhere = openSession(place, { id: 's-2' })
    mkdirSync(join(place.root, 'other'))
    expect(answerOf(await elsewhere.type(`/ralph:resume ${loop}`, { cwd: join(place.root, 'other') }))).toContain(
      'Resume it there',
    )
    await session.type('/ralph:cancel')
    expect(answerOf(await elsewhere.type(`/ralph:resume ${loop}`))).toContain('has ended')

    const agent = place.agent(`while [ ! -e '${place.root}/go' ]; do sleep 0.05; done`)
    const going = place.start(['run', 'x', '--agent', agent, '--max-iterations', '1', '--json'])
    const driven = await until('the loop', () => {
      const row = query(place, "SELECT id FROM loop WHERE status = 'running'")[0]
      return place.calls()[0] && row && String(row.id)
    })
    expect(answerOf(await elsewhere.type(`/ralph:resume ${driven}`))).toContain('is running elsewhere')
    expect(isArmed(place, 's-2')).toBe(false)
    writeFileSync(join(place.root, 'go'), '')
    await going.ended
  })

  test('takes over another loop once its own has ended elsewhere, and not before', async () => {
    const { place, session, loop } = await looping('Build it')
    const other = openSession(place, { id: 's-2' })
    await other.type('/ralph:loop Build more')
    expect(answerOf(await other.type(`/ralph:resume ${loop}`))).toContain('This session already has loop')
    await place.ralph(['pause', loop])
    await place.ralph(['cancel', String(query(place, 'SELECT id FROM loop WHERE id <> ?', loop)[0]?.id)])
    expect((await other.type(`/ralph:resume ${loop}`)).prompt).toMatch(/^Build it\n/)
    expect(await session.stop()).toMatchObject(PASSES)
  })

  test('gets help on how to type each command', async () => {
    const session = openSession(makePlace({ git: false }))
    const help = answerOf(await session.type('/ralph:help'))
    for (const words of ['/ralph:loop PROMPT', '/ralph:cancel', '--verify CMD', '--max-iterations N', FACE])
      expect(help).toContain(words)
    expect(help).not.toContain('--context')
    expect(answerOf(await session.type('/ralph:loop --help'))).toBe(help)
  })
})

describe.concurrent('what the user may not have meant', () => {
  test.each(['<promise>COMPLETE</promise>', 'TASK_COMPLETE'])(
    'the agent claims with %s, as in headless runs',
    async (tag) => {
      const { begun, session, place } = await looping('Build it')
      expect(begun.prompt).toContain('put `<promise>COMPLETE</promise>` alone on the last line, after an empty line')
      expect(begun.said).toContain('done when the agent says <promise>COMPLETE</promise>')
      expect(await session.work(`All of it.\n\n${tag}`)).toMatchObject({
        prompt: '',
        said: expect.stringContaining('done after 1 iteration'),
      })
      expect(isArmed(place)).toBe(false)
    },
  )

  test('a face that says null has no promise: then only TASK_COMPLETE claims', async () => {
    const { session, place } = await looping('Build it')
    edit(place, 'completion_promise: "COMPLETE"', 'completion_promise: null')
    const result = await session.work('All of it.\n\n<promise>COMPLETE</promise>')
    expect([asked(result), result.prompt.includes('put `TASK_COMPLETE` alone')]).toEqual([2, true])
    expect(field(place, 'completion_promise')).toBe('null')
    expect((await session.work('All of it.\n\nTASK_COMPLETE')).said).toContain('done after 2 iterations')
  })

  test('an option left in the prompt is noted, and so is a missing check program', async () => {
    const { begun } = await looping('Build it --verify npm test')
    expect(begun.said).toContain('--verify was read as part of the prompt')
    const other = await looping('Build it --verify no-such-program')
    expect(other.begun.said).toContain('"no-such-program" is not installed yet')
  })

  test('an order that names another loop affects neither', async () => {
    const { place, session, loop } = await looping('Build it')
    const other = openSession(place, { id: 's-2' })
    await other.type('/ralph:loop Build more')
    expect(answerOf(await other.type(`/ralph:cancel ${loop}`))).toContain(`ralph cancel ${loop}`)
    expect(answerOf(await other.type('/ralph:pause nowhere'))).toContain('No such loop: nowhere')
    expect([isArmed(place), isArmed(place, 's-2')]).toEqual([true, true])
    expect(answerOf(await session.type(`/ralph:cancel ${loop}`))).toContain('cancelled after 0 iterations')
  })

  test('a face that names another session does not keep the user from cancelling', async () => {
    const { place, session } = await looping('Build it')
    edit(place, /session_id: .*/, 'session_id: "other"')
    expect((await session.work()).said).toContain('so the loop is paused')
    expect(answerOf(await session.type('/ralph:cancel'))).toContain('cancelled after 0 iterations')
  })
})

describe.concurrent('the face', () => {
  test('an edited limit, promise and prompt are adopted, an edited counter is not', async () => {
    const { place, session } = await looping('Build it --max-iterations 5 --completion-promise DONE')
    edit(place, 'max_iterations: 5', 'max_iterations: 07')
    edit(place, 'iteration: 1', 'iteration: 6')
    edit(place, '"DONE"', 'SHIPPED')
    edit(place, 'Build it', 'Build something else\n---\nwith care')
    const result = await session.work(promised('DONE'))
    expect(
      result.prompt.startsWith('Build something else\n---\nwith care\n\n---\n\nThis is iteration 2 of at most 7'),
    ).toBe(true)
    expect(result.prompt).toContain('<promise>SHIPPED</promise>')
    expect(['max_iterations', 'iteration', 'completion_promise'].map((key) => field(place, key))).toEqual([
      '7',
      '2',
      '"SHIPPED"',
    ])
    expect((await session.work(promised('SHIPPED'))).said).toContain('done after 2')
  })

  test('active: false pauses; only a command resumes', async () => {
    const { place, session } = await looping('Build it')
    edit(place, 'active: true', 'active: false')
    expect(await session.work()).toMatchObject({ prompt: '', said: expect.stringContaining('paused after 0') })
    edit(place, 'active: false', 'active: true')
    expect(await session.work()).toMatchObject({ prompt: '' })
    expect(asked(await session.type('/ralph:resume'))).toBe(1)
  })

  test('deleting it cancels', async () => {
    const { place, session } = await looping('Build it')
    rmSync(join(place.dir, FACE))
    expect((await session.work()).said).toBe(`ralph: cancelled after 0 iterations. Cancelled by deleting ${FACE}.`)
    expect(isArmed(place)).toBe(false)
  })

  test('one saved by a Windows editor changes nothing', async () => {
    const { place, session } = await looping('Build it\nwith care')
    place.write(FACE, `\uFEFF${face(place).replaceAll('\n', '\r\n')}`)
    expect(asked(await session.work())).toBe(2)
    expect(query(place, "SELECT n FROM event WHERE json_extract(fact, '$.kind') = 'told'")).toEqual([])
  })
})

describe.concurrent('caps of hosts', () => {
  /** How far a loop gets in a row, and the message with the last requested turn. */
  async function inARow(env: Record<string, string>, most: number): Promise<string[]> {
    const { session } = await looping('Build it --max-iterations 0', { env })
    const said: string[] = []
    for (let turn = 1; turn <= most; turn++) said.push((await session.work()).said)
    return said
  }

  test('Claude Code announces when its cap is reached, as configured', async () => {
    const said = await inARow({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '2' }, 4)
    expect(said.map((words) => words.includes('lets a hook keep it going 2 times in a row'))).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(said[1]).toContain('this is the last one. If it stops here, resume with /ralph:resume')
  })

  test('Claude Code allows 8 by default; 0 lifts it; an invalid value means the default', async () => {
    const [unset, lifted, nonsense] = await Promise.all([
      inARow({}, 9),
      inARow({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '0' }, 9),
      inARow({ CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: 'many' }, 8),
    ])
    const notes = (said: string[]) => said.flatMap((words, at) => (words.includes('in a row') ? [at + 1] : []))
    expect([unset, lifted, nonsense].map(notes)).toEqual([[8], [], [8]])
  })

  test('what the user types resets the count', async () => {
    const { session } = await looping('Build it', { env: { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: '2' } })
    await session.work()
    await session.type('/ralph:pause')
    await session.type('/ralph:resume')
    expect((await session.work()).said).not.toContain('in a row')
    expect((await session.work()).said).toContain('in a row')
  })
})

/** Other hosts, with payloads recorded from them. */
describe.concurrent('hosts', () => {
  const armedHost = (place: Place, id: string) =>
    (JSON.parse(readFileSync(join(place.home, 'armed', id), 'utf8')) as Json).host

  test('Codex: additional context, then plain blocks; no unknown keys', async () => {
    const place = makePlace({ git: false })
    const base = {
      session_id: 'c-1',
      turn_id: 't',
      transcript_path: null,
      cwd: place.dir,
      model: 'm',
      permission_mode: 'x',
    }
    const prompt = (text: string, turn_id = 't') =>
      callGate(place, 'prompt', { ...base, turn_id, hook_event_name: 'UserPromptSubmit', prompt: text }).ended
    const begun = await prompt('$ralph:loop Build it --completion-promise DONE')
    expect(begun.json).toEqual({
      hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: expect.stringContaining('Build it') },
      systemMessage: expect.stringContaining('$ralph-status shows it, $ralph-cancel ends it'),
    })
    expect([armedHost(place, 'c-1'), existsSync(join(place.dir, '.codex/ralph-loop.local.md'))]).toEqual([
      'codex',
      true,
    ])
    place.write('a', '')
    const stop = { ...base, hook_event_name: 'Stop', stop_hook_active: true, last_assistant_message: 'x' }
    const result = await callGate(place, 'stop', stop).ended
    expect(result.json).toEqual({
      decision: 'block',
      reason: expect.stringContaining('iteration 2'),
      systemMessage: 'ralph: iteration 2 of 10',
    })
    expect((await prompt('ralph:status', 't-2')).json).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('iteration 2 of 10'),
    })
  })

  test('Gemini: its continuation is not a prompt, its answers repeat, its context can be cleared, Esc pauses', async () => {
    const place = makePlace({ git: false })
    const base = { session_id: 'g-1', transcript_path: join(place.root, 'none.json'), cwd: place.dir, timestamp: 'x' }
    const types = (prompt: string) =>
      callGate(place, 'prompt', { ...base, hook_event_name: 'BeforeAgent', prompt }).ended
    const ends = (prompt_response: string) => {
      place.write('work.txt', prompt_response)
      return callGate(place, 'stop', {
        ...base,
        hook_event_name: 'AfterAgent',
        prompt: 'x',
        prompt_response,
        stop_hook_active: false,
      }).ended
    }
    const begun = await types('ralph:loop\n\n/ralph:loop Build it --context fresh --completion-promise DONE')
    expect(begun.json).toMatchObject({
      hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: expect.stringContaining('Build it') },
    })
    const first = await ends('I will say &lt;promise&gt;DONE&lt;/promise&gt; when it is done.')
    expect(first.json).toMatchObject({
      decision: 'block',
      systemMessage: 'ralph: iteration 2 of 10',
      hookSpecificOutput: { hookEventName: 'AfterAgent', clearContext: true },
    })
    expect(await types(String(first.json.reason))).toMatchObject(PASSES)
    const told = 'I will say &lt;promise&gt;DONE&lt;/promise&gt; when it is done.\nanswer 2'
    expect(asked(await ends(told))).toBe(3)
    expect(await ends(told)).toMatchObject({ prompt: '', said: expect.stringContaining('paused after 2 iterations') })
    expect(asked(await types('ralph:resume'))).toBe(3)
    expect((await ends('[no response text]')).said).toContain('paused after 2 iterations')
    await types('/ralph:resume')
    expect((await ends('An answer.\n<promise>DONE</promise>')).said).toContain('done after 3')
  })

  test('Gemini: Esc in a tool is reported by the tool, and pauses; a tool that ends by itself changes nothing', async () => {
    const place = makePlace({ git: false })
    const record = join(place.root, 'session.jsonl')
    const base = { session_id: 'g-1', transcript_path: record, cwd: place.dir }
    const ends = (llmContent: string) =>
      callGate(place, 'stop', { ...base, hook_event_name: 'AfterTool', tool_response: { llmContent } }).ended
    const begun = { ...base, hook_event_name: 'BeforeAgent', prompt: '/ralph:loop Build it' }
    expect((await callGate(place, 'prompt', begun).ended).said).toContain('Esc pauses it')
    const lines = [{ id: '1', type: 'user', content: [{ text: 'Build it' }] }]
    writeFileSync(record, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    expect(await ends('Output: fine')).toMatchObject(PASSES)
    expect(await ends('It prints "Command was cancelled by user".')).toMatchObject(PASSES)
    writeFileSync(record, `${JSON.stringify({ id: '2', type: 'info', content: 'Request cancelled.' })}\n`, {
      flag: 'a',
    })
    expect((await ends('Command was cancelled by user before it could complete.')).said).toContain(
      'paused after 0 iterations',
    )
    expect(await ends('Command was cancelled by user before it could complete.')).toMatchObject(PASSES)
    expect(field(place, 'active', '.gemini/ralph-loop.local.md')).toBe('false')
  })

  test('Gemini: the same answer again after the user typed is a new one', async () => {
    const place = makePlace({ git: false })
    const base = { session_id: 'g-1', cwd: place.dir }
    const types = (prompt: string) =>
      callGate(place, 'prompt', { ...base, hook_event_name: 'BeforeAgent', prompt }).ended
    const ends = (prompt_response: string) =>
      callGate(place, 'stop', { ...base, hook_event_name: 'AfterAgent', prompt_response }).ended
    await types('/ralph:loop Build it')
    place.write('a', '1')
    await ends('ok')
    await types('/ralph:pause')
    await types('/ralph:resume')
    place.write('a', '2')
    expect(asked(await ends('ok'))).toBe(3)
  })

  test('Copilot: its own answer fields, the transcript for the last message, and a pause at its hard cap', async () => {
    const place = makePlace({ git: false })
    const env = { COPILOT_CLI: '1' }
    const record = join(place.root, 'events.jsonl')
    const base = { session_id: 'p-1', timestamp: '2026-11-16T03:00:00.000Z', cwd: place.dir }
    const prompt = (text: string) =>
      callGate(place, 'prompt', { ...base, hook_event_name: 'UserPromptSubmit', prompt: text }, { env }).ended
    const stop = async (content: string, at: number) => {
      place.write('work.txt', String(at))
      const lines = [
        { type: 'assistant.message', data: { content, toolRequests: [] } },
        { type: 'hook.start', data: { hookType: 'agentStop', input: { timestamp: at } } },
        { type: 'assistant.message', data: { content: promised('DONE') } },
      ]
      writeFileSync(record, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      const payload = {
        ...base,
        timestamp: new Date(at).toISOString(),
        hook_event_name: 'Stop',
        transcript_path: record,
        stop_reason: 'end_turn',
      }
      return callGate(place, 'stop', payload, { env }).ended
    }
    const skill = (name: string, args: string) =>
      `The user explicitly invoked the "/ralph:${name}" skill. Follow its instructions now.\n\n<skill-context name="${name}">\nBase directory x\n\nText of the file.\n\n\nARGUMENTS: ${args}\n</skill-context>`
    const begun = await prompt(skill('loop', `it's "q" --max-iterations 0 --completion-promise DONE`))
    expect(begun.json).toEqual({ additionalContext: expect.stringMatching(/^it's "q"\n/) })
    expect((await prompt('/ralph:status')).json).toEqual({
      handled: true,
      responseContent: expect.stringContaining('iteration 1'),
    })
    let reason = ''
    for (let turn = 1; turn <= 8; turn++) {
      const result = await stop('worked', 1_794_807_776_000 + turn)
      expect([asked(result), result.said.includes('this is the last one')]).toEqual([turn + 1, turn === 8])
      reason = result.prompt
    }
    expect(await prompt(reason)).toMatchObject(PASSES)
    expect(await stop('worked', 1_794_807_777_000)).toMatchObject({
      prompt: '',
      said: expect.stringContaining('paused after 9 iterations'),
    })
    expect(asked({ prompt: String((await prompt('/ralph:resume')).json.additionalContext) } as HookResult)).toBe(10)
  })

  test('Copilot names no event to hooks in its own settings: the gate does', async () => {
    const place = makePlace({ git: false })
    const env = { COPILOT_CLI: '1' }
    const record = join(place.root, 'events.jsonl')
    const base = { sessionId: 'p-1', timestamp: 1_794_807_776_000, cwd: place.dir }
    const begun = await callGate(place, 'prompt', { ...base, prompt: '/ralph-loop Build it' }, { env }).ended
    expect(begun.json).toEqual({ additionalContext: expect.stringMatching(/^Build it\n/) })
    const lines = [
      { type: 'assistant.message', data: { content: 'worked', toolRequests: [] } },
      { type: 'hook.start', data: { hookType: 'agentStop', input: { timestamp: base.timestamp } } },
    ]
    writeFileSync(record, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    place.write('work.txt', '1')
    expect(asked(await callGate(place, 'stop', { ...base, transcriptPath: record }, { env }).ended)).toBe(2)
  })

  test('Qwen: only what was submitted is a prompt', async () => {
    const place = makePlace({ git: false })
    const base = { session_id: 'q-1', cwd: place.dir, prompt_id: 'x', hook_event_name: 'UserPromptSubmit' }
    const env = { QWEN_CODE_SESSION_ID: 'q-1', QWEN_CODE_STOP_HOOK_BLOCK_CAP: '2' }
    const prompt = (more: Json) => callGate(place, 'prompt', { ...base, ...more }, { env }).ended
    const file = 'ralph:loop\n\n/ralph:loop Build it'
    expect(asked(await prompt({ prompt: file, submitted_prompt: '/ralph:loop Build it\n\n' }))).toBe(1)
    expect([armedHost(place, 'q-1'), face(place, '.qwen/ralph-loop.local.md').endsWith('\n\nBuild it\n')]).toEqual([
      'qwen',
      true,
    ])
    expect(await prompt({ prompt: '' })).toMatchObject(PASSES)
    place.write('a', '')
    const stop = {
      ...base,
      hook_event_name: 'Stop',
      last_assistant_message: 'x',
      context_usage: 0.1,
      background_tasks: [],
      crons: [],
    }
    const result = await callGate(place, 'stop', stop, { env }).ended
    expect([asked(result), result.said]).toEqual([
      2,
      expect.stringContaining('QWEN_CODE_STOP_HOOK_BLOCK_CAP=100 raises it'),
    ])
    expect(await prompt({ prompt: result.prompt })).toMatchObject(PASSES)
    place.write('a', 'more')
    const capped = await callGate(place, 'stop', stop, { env }).ended
    expect(capped).toMatchObject({ prompt: '', said: expect.stringContaining('paused after 2 iterations') })
    expect(asked(await prompt({ prompt: 'x', submitted_prompt: '/ralph:resume' }))).toBe(3)
    await prompt({ prompt: 'hm', submitted_prompt: 'hm' })
    expect(field(place, 'active', '.qwen/ralph-loop.local.md')).toBe('false')
  })

  test('Droid: only there a command is answered with exit code 2', async () => {
    const place = makePlace({ git: false })
    const env = { FACTORY_PROJECT_DIR: place.dir }
    const base = { session_id: 'd-1', cwd: '/', message_id: 'm-2', transcript_path: join(place.root, 'd.jsonl') }
    const prompt = (text: string) =>
      callGate(
        place,
        'prompt',
        { ...base, hook_event_name: 'UserPromptSubmit', prompt: text, has_images: false },
        { env },
      ).ended
    expect(asked(await prompt('ralph:loop Build it --completion-promise DONE'))).toBe(1)
    expect(existsSync(join(place.dir, '.factory/ralph-loop.local.md'))).toBe(true)
    expect(
      await prompt('<system-notification>\n\nralph:status\n\nralph answers this itself</system-notification>'),
    ).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('iteration 1 of 10'),
    })
    const line = (id: string, text: string) =>
      `${JSON.stringify({ type: 'message', id, message: { role: 'assistant', content: [{ type: 'text', text }] } })}\n`
    writeFileSync(base.transcript_path, `${line('m-2', promised('DONE'))}${line('m-3', 'later')}`)
    place.write('a', '')
    const stop = await callGate(place, 'stop', { ...base, hook_event_name: 'Stop', stop_hook_active: false }, { env })
      .ended
    expect(stop).toMatchObject({ code: 0, said: expect.stringContaining('done after 1') })
  })

  test('Droid: the prompt of its one-shot mode is found in its transcript', async () => {
    const place = makePlace({ git: false })
    const transcript = join(place.root, 'd.jsonl')
    const env = { FACTORY_PROJECT_DIR: place.dir, transcript_path: transcript }
    const line = (role: string, text: string, more = {}) =>
      `${JSON.stringify({ type: 'message', id: role, message: { role, content: [{ type: 'text', text }] }, ...more })}\n`
    writeFileSync(
      transcript,
      `${line('user', '/ralph:loop Build it --max-iterations 2')}${line('user', 'x', { visibility: 'llm' })}${line('assistant', 'ok')}`,
    )
    const payload = {
      session_id: 'd-1',
      cwd: '/',
      message_id: 'assistant',
      transcript_path: transcript,
      hook_event_name: 'Stop',
    }
    const begun = await callGate(place, 'stop', payload, { env }).ended
    expect(begun.json).toMatchObject({ decision: 'block', reason: expect.stringContaining('This is iteration 1') })
    place.write('a', '')
    expect(asked(await callGate(place, 'stop', payload, { env }).ended)).toBe(2)
    place.write('a', 'more')
    expect((await callGate(place, 'stop', payload, { env }).ended).said).toContain('max-iterations')
    // The command is still the last thing in the transcript.
    expect(await callGate(place, 'stop', payload, { env }).ended).toMatchObject(PASSES)
    expect(await callGate(place, 'stop', payload, { env }).ended).toMatchObject(PASSES)
  })

  test('Cursor: follow-up messages, and nothing unknown', async () => {
    const place = makePlace({ git: false })
    const base = { conversation_id: 'u-1', generation_id: 'x', workspace_roots: [place.dir] }
    const prompt = (text: string) =>
      callGate(place, 'prompt', { ...base, hook_event_name: 'beforeSubmitPrompt', prompt: text }).ended
    expect((await prompt('/ralph-status')).json).toEqual({
      continue: false,
      user_message: expect.stringContaining('/ralph-loop'),
    })
    expect(await prompt('/ralph-loop Build it --verify "test -e done"')).toMatchObject(PASSES)
    place.write('a', '')
    const stop = (status: string) =>
      callGate(place, 'stop', { ...base, hook_event_name: 'stop', status, loop_count: 0 }).ended
    expect((await stop('completed')).json).toEqual({ followup_message: expect.stringContaining('This is iteration 2') })
    expect((await stop('aborted')).json).toEqual({})
    expect(field(place, 'active', '.cursor/ralph-loop.local.md')).toBe('false')
  })
})

describe.concurrent('the neutral protocol', () => {
  function openShim(place: Place, host = 'pi', id = 'n-1') {
    const ask = async (event: string, more: Json = {}) => {
      const result = await askProgram(place, { host, event, session_id: id, cwd: place.dir, ...more })
      expect(result.code).toBe(0)
      return { ...result.json, err: result.err } as Json
    }
    return {
      command: (command: string, args = '') => ask('command', { command, args }),
      prompt: (prompt: string) => ask('prompt', { prompt }),
      stop(message: string, more: Json = {}) {
        place.write('work.txt', `${message}${Math.random()}`)
        return ask('stop', { last_assistant_message: message, outcome: 'completed', ...more })
      },
      woke: () => ask('woke'),
    }
  }

  test('has every field of a turn, of a refused claim and of a verified end', async () => {
    const place = makePlace({ git: false })
    const shim = openShim(place)
    const begun = await shim.command(
      'loop',
      'Build it --max-iterations 5 --completion-promise DONE --verify "test -e done"',
    )
    expect(begun).toMatchObject({
      next: 'turn',
      prompt: expect.stringContaining('Build it'),
      fresh: false,
      context: 'same',
      status: 'running',
      loop: onlyLoop(place),
      iteration: 1,
      max_iterations: 5,
      promise: 'DONE',
      cost_usd: 0,
      tokens: 0,
      show: [
        { level: 'info', text: expect.stringContaining('/ralph-status shows it, /cancel-ralph ends it') },
        { level: 'info', text: 'ralph: before: test -e done fails' },
      ],
    })
    const refused = await shim.stop(promised('DONE'), { tokens: 120, cost_usd: 0.25, ran: ['npm test'] })
    expect(refused).toMatchObject({
      next: 'turn',
      iteration: 2,
      tokens: 120,
      cost_usd: 0.25,
      checks: [{ check: 'test -e done', result: 'fail' }],
      checked: 'refused: test -e done fails',
      err: '{"checking":"test -e done"}\n',
    })
    place.write('done', '')
    expect(await shim.stop(promised('DONE'), { tokens: 80, cost_usd: 0.25 })).toMatchObject({
      next: 'none',
      status: 'completed',
      proof: 'verified',
      iteration: 2,
      tokens: 200,
      cost_usd: 0.5,
      checks: [{ check: 'test -e done', result: 'pass' }],
    })
    expect(await shim.stop('later')).toEqual({ next: 'none', status: 'none', show: [], err: '' })
    expect(await shim.prompt('hello')).toEqual({ next: 'none', status: 'none', show: [], err: '' })
  })

  test('has the reason for a halt', async () => {
    const shim = openShim(makePlace({ git: false }))
    await shim.command('loop', 'Build it --max-iterations 1')
    expect(await shim.stop('x')).toMatchObject({
      next: 'none',
      status: 'halted',
      reason: 'max-iterations',
      sentence: 'Reached the limit of 1 iteration.',
      iteration: 1,
    })
  })

  test('a fresh context can be requested', async () => {
    const shim = openShim(makePlace({ git: false }), 'opencode')
    expect(await shim.command('loop', 'Build it --context fresh')).toMatchObject({
      next: 'turn',
      fresh: true,
      context: 'fresh',
    })
    const next = await shim.stop('x')
    expect(next).toMatchObject({
      next: 'turn',
      fresh: true,
      iteration: 2,
      prompt: expect.stringContaining('You have no memory'),
    })
  })

  test('an agent that the user stopped gets no turn until they say so', async () => {
    const place = makePlace({ git: false })
    const shim = openShim(place)
    await shim.command('loop', 'Build it')
    expect(await shim.stop('half', { outcome: 'aborted', error_message: 'Aborted' })).toMatchObject({
      next: 'none',
      status: 'paused',
    })
    expect(await shim.stop('x')).toMatchObject({ next: 'none', status: 'paused', show: [] })
    expect(await shim.command('status')).toMatchObject({ status: 'paused', iteration: 0 })
    expect(await shim.command('resume')).toMatchObject({ next: 'turn', iteration: 1 })
    expect(await shim.prompt('wait')).toMatchObject({ next: 'none', status: 'paused' })
    expect(await shim.command('cancel')).toMatchObject({ next: 'none', status: 'cancelled' })
    expect(await shim.command('resume')).toMatchObject({ next: 'none', status: 'none' })
  })

  test('an error is waited out, reported, or ends the loop; never a hot loop', async () => {
    const place = makePlace({ git: false })
    const shim = openShim(place)
    await shim.command('loop', 'Build it --max-iterations 0')
    const limited = await shim.stop('', { outcome: 'error', error_message: '429: {"error":"rate limit"}' })
    expect(limited).toMatchObject({ next: 'wait', status: 'waiting', iteration: 0 })
    expect(Number(limited.wait_ms)).toBeGreaterThan(30_000)
    expect(await shim.woke()).toMatchObject({ next: 'turn', iteration: 1 })
    expect(await shim.stop('', { outcome: 'error', error_message: '401: invalid api key' })).toMatchObject({
      next: 'none',
      status: 'halted',
      reason: 'agent-unusable',
    })
    await shim.command('loop', 'Build it --max-iterations 0')
    for (const iteration of [1, 1])
      expect(await shim.stop('', { outcome: 'error', error_message: 'boom' })).toMatchObject({
        next: 'turn',
        iteration,
      })
    expect(await shim.stop('', { outcome: 'error', error_message: 'boom' })).toMatchObject({
      status: 'halted',
      reason: 'agent-failed',
    })
  })

  test('a question waits for the user, and their text is the answer', async () => {
    const shim = openShim(makePlace({ git: false }))
    await shim.command('loop', 'Build it')
    expect(await shim.stop('<ask>Tabs?</ask>')).toMatchObject({ next: 'none', status: 'needs-input' })
    expect(await shim.prompt('Tabs.')).toMatchObject({
      next: 'turn',
      iteration: 2,
      prompt: expect.stringContaining('Tabs.'),
    })
  })

  test('garbage and unknown things get no answer, and no error', async () => {
    const place = makePlace({ git: false })
    const base = { host: 'pi', session_id: 'n-1', cwd: place.dir }
    for (const payload of [
      '',
      'x',
      '7',
      { ...base, event: 'explode' },
      { ...base, event: 'command', command: 'explode' },
      { ...base },
    ])
      expect([payload, await askProgram(place, payload)]).toMatchObject([payload, PASSES])
  })

  test('a loop in separate processes is reported, found and resumed', async () => {
    const place = makePlace({ git: false })
    place.write('.pi/agents/worker.md', '---\nname: worker\nmodel: mock/small\ntools: read, bash\n---\nYou work.\n')
    const shim = openShim(place)
    const first = await shim.command('loop', 'Build it --context process --subagent worker')
    expect(first).toMatchObject({
      next: 'none',
      status: 'none',
      trust: { path: join(place.dir, '.pi/agents/worker.md'), text: expect.stringContaining('You work.') },
      show: [{ level: 'error', text: expect.stringContaining('is not trusted yet') }],
    })
    expect((await place.ralph(['trust', '.pi/agents/worker.md'])).stdout).toContain('Accepted ')
    const begun = await shim.command('loop', 'Build it --context process --subagent worker')
    expect(begun).toMatchObject({ next: 'none', context: 'process', status: 'running', loop: onlyLoop(place) })
    const [row] = query(place, "SELECT json_extract(spec, '$.work.agentArgs') args FROM loop")
    expect(row?.args).toBe(
      JSON.stringify(['--model', 'mock/small', '--tools', 'read,bash', '--append-system-prompt', 'You work.']),
    )
    expect(await shim.command('status')).toMatchObject({ context: 'process', status: 'running' })
    expect(await shim.command('pause')).toMatchObject({ status: 'paused' })
    expect(await shim.command('resume')).toMatchObject({ next: 'none', context: 'process', loop: begun.loop })
    expect(await shim.command('cancel')).toMatchObject({ status: 'cancelled' })
    const wrong = await shim.command('loop', 'Build it --context process --subagent nobody')
    expect(wrong).toMatchObject({
      next: 'none',
      status: 'none',
      show: [{ level: 'error', text: expect.stringContaining('No such agent: "nobody"') }],
    })
  })
})

describe.concurrent('settings', () => {
  test('come from the command, the environment and the settings file, in this order', async () => {
    const place = makePlace({ git: false })
    place.write(
      'ralph.config.json',
      JSON.stringify({ verify: ['test -e done'], max_iterations: 4, completion_promise: 'OK' }),
    )
    const first = openSession(place)
    const told = await first.type('/ralph:loop Build it')
    expect(told.said).toContain(
      'at most 4 iterations · done when the agent says <promise>OK</promise> · checked by test -e done.',
    )
    expect((await first.work(promised('OK'))).said).toContain('test -e done fails')
    const env = { RALPH_MAX_ITERATIONS: '6' }
    const second = await openSession(place, { id: 's-2', env }).type('/ralph:loop Build it')
    expect(second.said).toContain('at most 6 iterations')
    const third = await openSession(place, { id: 's-3', env }).type(
      '/ralph:loop Build it --max-iterations 1 --verify true',
    )
    expect(third.said).toMatch(/at most 1 iteration · .*checked by true\./)
    const wrong = await openSession(place, { id: 's-4', env: { RALPH_MAX_ITERATIONS: 'ten' } }).type(
      '/ralph:loop Build it',
    )
    expect(answerOf(wrong)).toContain('RALPH_MAX_ITERATIONS must be a whole number, auto or auto:N, got "ten"')
    place.write('config.yaml', 'ralph:\n  max_iterations: 2\n  verify: ["false"]\n')
    place.write('ralph.config.json', JSON.stringify({ verify: ['true'] }))
    await place.ralph(['trust']) // an open loop could have changed them
    const yaml = await openSession(place, { id: 's-6' }).type('/ralph:loop Build it')
    expect(yaml.said).toMatch(/at most 2 iterations.*checked by true\./)
    place.write('ralph.config.json', '{')
    expect(answerOf(await openSession(place, { id: 's-5' }).type('/ralph:loop x'))).toContain('ralph.config.json')
  })

  test('--file reads the prompt, and its own limit and promise', async () => {
    const place = makePlace({ git: false })
    place.write('task.md', 'Build $(touch PWNED)\n---\nit')
    const session = openSession(place)
    expect((await session.type('/ralph:loop --file task.md')).prompt).toMatch(/^Build \$\(touch PWNED\)\n---\nit\n/)
    await session.type('/ralph:cancel')
    place.write('task.md', ' \n')
    expect(answerOf(await session.type('/ralph:loop --file=task.md'))).toContain('is empty')
    expect(answerOf(await session.type('/ralph:loop Build --file task.md'))).toContain('either a prompt or --file')
  })

  test('--verify auto finds the checks, or says that there are none', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place)
    expect(answerOf(await session.type('/ralph:loop Build it --verify auto'))).toContain('found no check')
    place.write('package.json', JSON.stringify({ scripts: { test: 'node --test' } }))
    expect((await session.type('/ralph:loop Build it --verify auto')).said).toContain('checked by npm test')
  })

  test('--timeout ends the loop', async () => {
    const { session } = await looping('Build it --timeout 0.0001')
    expect((await session.work()).said).toContain('(timeout)')
  })
})

describe.concurrent('from outside', () => {
  test("a session's loop is shown, paused, resumed without the session, and has both parts in its history", async () => {
    const { place, session, loop } = await looping(
      'Build it --max-iterations 5 --completion-promise DONE --verify "test -e done"',
      { git: true },
    )
    await session.work('The first part.')
    expect((await place.ralph(['status'])).stdout).toContain('running in a session of Claude Code')
    expect((await place.ralph(['status', loop])).stdout).toContain('in a session of Claude Code')
    expect(await place.ralph(['resume', loop])).toMatchObject({
      stderr: expect.stringContaining('is running in a session of Claude Code'),
    })
    expect((await place.ralph(['pause', loop])).stdout).toContain('paused after 1 iteration')
    expect(field(place, 'active')).toBe('false')
    expect((await session.stop()).said).toContain('paused after 1 iteration')

    mkdirSync(join(place.root, 'bin'))
    const result = JSON.stringify({ type: 'result', is_error: false, result: promised('DONE'), usage: {} })
    place.write(
      '../bin/claude',
      `#!/bin/sh\ncat > '${place.root}/asked'\ntouch done\necho '${result.replace('\\n', '\\\\n')}'\n`,
      0o755,
    )
    const PATH = `${join(place.root, 'bin')}:${place.env.PATH}`
    const resumed = await place.ralph(['resume', loop, '--json'], { env: { PATH } })
    expect(resumed).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified', iterations: 2 } })
    expect(place.read('../asked')).toContain('This is iteration 2 of at most 5')
    expect([isArmed(place), existsSync(join(place.dir, FACE))]).toEqual([false, false])
    expect(await session.stop()).toMatchObject(PASSES)
    const shown = (await place.ralph(['show', loop])).stdout
    expect(shown).toContain('The first part.')
    expect(shown).toContain('complete, proof: verified, after 2 iterations')
  })

  test('a loop that was started without a session continues in one', async () => {
    const place = makePlace({ git: false })
    const agent = place.agent('echo "<ask>Tabs or blanks?</ask>"')
    expect(await place.ralph(['run', 'Build it', '--agent', agent, '--json'])).toMatchObject({ code: 4 })
    const session = openSession(place)
    const loop = onlyLoop(place)
    expect(answerOf(await session.type('/ralph:status'))).toContain(`loop ${loop}, needs-input`)
    expect(asked(await session.type(`/ralph:resume ${loop}`))).toBe(2)
    expect(field(place, 'loop_id')).toBe(`"${loop}"`)
    expect(asked(await session.work())).toBe(3)
  })

  test('cancel and steer reach the session', async () => {
    const { place, session, loop } = await looping('Build it')
    expect((await place.ralph(['steer', loop, 'Use tabs.'])).stdout).toContain(
      'will get the message in its next iteration.',
    )
    const result = await session.work()
    expect([asked(result), result.prompt.includes('> A person says: Use tabs.')]).toEqual([2, true])
    expect((await session.work()).prompt).not.toContain('Use tabs.')
    await place.ralph(['cancel', loop])
    expect(existsSync(join(place.dir, FACE))).toBe(false)
    expect((await session.stop()).said).toContain('cancelled after 2 iterations')
    expect(isArmed(place)).toBe(false)
  })

  test("a lost database is rebuilt with the session's loop in it", async () => {
    const { place, session } = await looping('Build it')
    await session.work('The first part.')
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect(asked(await session.work())).toBe(3)
  })

  test('`ralph hook` is the same program', async () => {
    const { place, session } = await looping('Build it')
    place.write('a', '')
    const ran = await place.ralph(['hook', 'stop'], { stdin: JSON.stringify(session.stopPayload()) })
    expect([ran.code, JSON.parse(ran.stdout)]).toMatchObject([
      0,
      { decision: 'block', systemMessage: 'ralph: iteration 2 of 10' },
    ])
  })
})

test('a second loop in the same folder gets a note about the one in the session', async () => {
  const { place, loop } = await looping('Build it')
  place.write('script.json', `{"turns":[[{"text":"TASK_COMPLETE"}]]}`)
  const { stderr } = await place.ralph(['run', 'x', '--agent', 'scripted:script.json', '--max-iterations', '1'])
  expect(stderr).toContain(`Loop ${loop} is also running here, in a session of Claude Code`)
})

describe.concurrent('a session that no longer exists', () => {
  const GONE = { CLAUDE_PID: String(2 ** 22 + 1) } // above the kernel's limit

  test('no longer holds its loop', async () => {
    const { place, loop } = await looping('Build it', { env: GONE })
    expect((await place.ralph(['status'])).stdout).toContain('interrupted')
    const other = openSession(place, { id: 's-2' })
    expect(asked(await other.type(`/ralph:resume ${loop}`))).toBe(1)
    expect([isArmed(place), isArmed(place, 's-2')]).toEqual([false, true])
  })

  test('as after /clear, in the same process', async () => {
    const { place, loop } = await looping('Build it', { env: { CLAUDE_PID: String(process.pid) } })
    const other = openSession(place, { id: 's-2' })
    expect(answerOf(await other.type(`/ralph:resume ${loop}`))).toContain('Pause it first')
    const cleared = openSession(place, { id: 's-3', env: { CLAUDE_PID: String(process.pid) } })
    expect(asked(await cleared.type(`/ralph:resume ${loop}`))).toBe(1)
  })

  test('and comes back in another process is working there', async () => {
    const { place } = await looping('Build it', { env: GONE })
    const back = openSession(place, { env: { CLAUDE_PID: String(process.pid) } })
    expect(asked(await back.type('/ralph:resume'))).toBe(1)
    expect((await place.ralph(['status'])).stdout).toContain('running in a session of Claude Code')
  })

  test('of OpenCode, whose plugin names the process; one process may have several working sessions', async () => {
    const place = makePlace({ git: false })
    const type = (id: string, command: string, pid: number, args = '') =>
      askProgram(
        place,
        { host: 'opencode', session_id: id, cwd: place.dir, event: 'command', command, args },
        { env: { RALPH_HOST_PID: String(pid) } },
      )
    const { json } = await type('s-1', 'loop', process.pid, 'Build it')
    expect((await place.ralph(['status'])).stdout).toContain('running in a session of OpenCode')
    const { out } = await type('s-2', 'resume', process.pid, String(json.loop))
    expect(out).toContain('Pause it first')
    await type('s-1', 'resume', Number(GONE.CLAUDE_PID))
    expect((await place.ralph(['status'])).stdout).toContain('interrupted')
    expect((await type('s-1', 'status', process.pid)).out).toContain('interrupted after 0 iterations; /ralph:resume')
    expect((await type('s-2', 'resume', process.pid, String(json.loop))).json).toMatchObject({ next: 'turn' })
  })

  test('its loop is not given to an agent that is not installed', async () => {
    const { place, session, loop } = await looping('Build it')
    await session.type('/ralph:pause')
    const resumed = await place.ralph(['resume', loop], { env: { ...place.env, PATH: '/nowhere' } })
    expect(resumed).toMatchObject({ code: 3, stderr: expect.stringContaining('was not found') })
    expect(asked(await session.type('/ralph:resume'))).toBe(1)
  })
})

describe.concurrent('in a git repository', () => {
  test('nothing is rolled back under a working agent', async () => {
    const { place, session, loop } = await looping('Build it', { git: true })
    await session.work()
    expect(await place.ralph(['rollback', loop, '0'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Pause it first'),
    })
  })

  const git = ({ dir, env }: Place, ...args: string[]) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' })

  test('the face is neither a change nor committed; checkpoints are kept, and a rollback works', async () => {
    const { place, session, loop } = await looping('Build it --max-iterations 4', { git: true })
    expect(git(place, 'status', '--porcelain')).toBe('')
    place.write('work.txt', 'one')
    await session.stop('one')
    place.write('work.txt', 'two')
    await session.stop('two')
    git(place, 'add', '--all')
    git(place, 'commit', '--quiet', '--message', 'by the agent')
    expect(git(place, 'ls-files')).toBe('README.md\nwork.txt\n')
    expect(
      git(place, 'for-each-ref', '--format=%(refname)', `refs/ralph/${loop}`)
        .split('\n')
        .filter((ref) => /\/\d+$/.test(ref)),
    ).toHaveLength(3)
    expect(query(place, 'SELECT n, changed, files FROM iteration ORDER BY n')).toEqual([
      { n: 1, changed: 1, files: 1 },
      { n: 2, changed: 1, files: 1 },
    ])
    await session.type('/ralph:cancel')
    expect(await place.ralph(['rollback', loop, '1'])).toMatchObject({ code: 0 })
    expect(place.read('work.txt')).toBe('one')
  })

  test('turns that change only the face change nothing', async () => {
    const { place, session } = await looping('Build it', { git: true })
    edit(place, 'Build it', 'Build more')
    await session.stop('x')
    edit(place, 'Build more', 'Build less')
    await session.stop('x')
    expect((await session.stop('x')).said).toContain('no-progress')
    expect(query(place, 'SELECT changed FROM iteration')).toEqual([{ changed: 0 }, { changed: 0 }, { changed: 0 }])
  })

  test('a project that ignores the folder itself gets no second rule', async () => {
    const place = makePlace()
    place.write('.gitignore', '.claude/\n')
    git(place, 'add', '.gitignore')
    git(place, 'commit', '--quiet', '--message', 'ignore')
    const session = openSession(place)
    await session.type('/ralph:loop Build it')
    expect(git(place, 'status', '--porcelain')).toBe('')
    expect(readFileSync(join(place.dir, '.git/info/exclude'), 'utf8')).not.toContain('ralph-loop')
  })
})

describe('the program that every turn starts', () => {
  test('is small', () => {
    expect(statSync(PROGRAM).size).toBeLessThanOrEqual(60_000)
  })

  /** The gate, next to these programs alone. */
  function gateWith(place: Place, ...programs: string[]): string {
    place.write('../few/plugin/claude/hook.sh', readFileSync(GATE, 'utf8'))
    mkdirSync(join(place.root, 'few', 'dist'))
    for (const name of programs) copyFileSync(join(PROGRAM, '..', name), join(place.root, 'few', 'dist', name))
    return join(place.root, 'few', 'plugin', 'claude', 'hook.sh')
  }

  test.each<[where: string, git: boolean, programs: string[]]>([
    ['a folder without git', false, ['hook.cjs', 'hook-secrets.cjs']],
    ['a repository', true, ['hook.cjs', 'hook-secrets.cjs', 'hook-git.cjs']],
  ])('loads no more than it needs in %s', async (_, git, programs) => {
    const { place, session } = await looping('Build it', { git })
    const gate = gateWith(place, ...programs)
    expect(asked(await session.work('x', {}, { gate }))).toBe(2)
    expect(asked(await session.work('x', {}, { gate }))).toBe(3)
  })

  test('continues if no checkpoint can be kept', async () => {
    const { place, session } = await looping('Build it', { git: true })
    rmSync(join(place.dir, '.git/refs/ralph'), { recursive: true })
    place.write('.git/refs/ralph', 'in the way\n')
    expect(asked(await session.work())).toBe(2)
  })
})

test('every plugin has the same gate', () => {
  const plugins = join(GATE, '..', '..')
  const gates = readdirSync(plugins, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('hook.sh'))
  expect(gates).toContain(join('claude', 'hook.sh'))
  for (const gate of gates) expect(readFileSync(join(plugins, gate), 'utf8')).toBe(readFileSync(GATE, 'utf8'))
})

describe('a plain prompt with completion criteria', () => {
  const WRAPPED = wrapPrompt('Make --verify work.', { maxIterations: 4, promise: 'SHIPPED' })

  test('starts a loop with their limit and promise, and says so', async () => {
    const place = makePlace({ git: false })
    const session = openSession(place)
    const begun = await session.type(WRAPPED)
    expect(begun.said).toContain('ralph: the prompt has completion criteria, so it runs as a loop.')
    expect(begun.said).toContain('at most 4 iterations · done when the agent says <promise>SHIPPED</promise>')
    expect(asked(begun)).toBe(1)
    expect(asked(await session.type(WRAPPED))).toBe(1) // by a second hook
    expect(query(place, 'SELECT status FROM loop')).toEqual([{ status: 'running' }])
    expect(asked(await session.stop('Step 1.'))).toBe(2)
    place.write('a.txt', 'work')
    expect((await session.stop(promised('SHIPPED'))).said).toContain('ralph: done after 2 iterations')
  })

  test('pauses another loop of the session, like any other text', async () => {
    const { session, place } = await looping('Build it')
    await session.stop('Step 1.')
    await session.type(WRAPPED)
    expect(query(place, 'SELECT status FROM loop')).toEqual([{ status: 'paused' }])
  })

  test('starts none in a pane, whose dispatcher has sent it', async () => {
    const place = makePlace({ git: false })
    expect(await openSession(place, { env: { RALPH_PANE: 'crew/one' } }).type(WRAPPED)).toMatchObject(PASSES)
    expect(isArmed(place)).toBe(false)
  })
})
