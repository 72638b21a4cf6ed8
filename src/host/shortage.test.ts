import { execFileSync, spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import { type Result, source, startScript, temporaryFolder } from './place.test-support.ts'
import { inPlainWords } from './plain-words.ts'
import { waitForRoom } from './shortage.ts'
import { onNotice } from './waiting.ts'

/**
 * Lines in a Node that may have 64 open files: `fill` opens all that are left, `free` closes them. Notices are printed.
 */
function withFewFiles(code: string): Promise<Result> {
  const lines = `
    import { execFileSync } from 'node:child_process'
    import { closeSync, openSync } from 'node:fs'
    const { onNotice } = await import(${source('host/waiting.ts')})
    execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=64:64'])
    const held = []
    const fill = () => { try { for (;;) held.push(openSync('/dev/null', 'r')) } catch {} }
    const free = () => { for (const file of held.splice(0)) closeSync(file) }
    const notices = []
    onNotice((text) => { notices.push(text); free() })
    const tell = (value) => { free(); console.log(JSON.stringify({ value, notices })) }
    ${code}`
  return startScript(lines).ended
}

function told({ out, err }: Result): { value: unknown; notices: string[] } {
  if (!out) throw new Error(err)
  return JSON.parse(out)
}

const SHORT = [expect.stringMatching(/too many files open.*Waiting.*ulimit -n/)]

describe.concurrent('a machine without room', () => {
  test('is waited for before git is called, and that is reported once', async () => {
    const dir = temporaryFolder()
    execFileSync('git', ['init', '--quiet'], { cwd: dir })
    const ended = await withFewFiles(`
      const { askGit, openRepository } = await import(${source('host/git.ts')})
      fill()
      const [repo, version] = await Promise.all([openRepository(${JSON.stringify(dir)}), askGit('/', ['--version'])])
      tell([repo.top, version.ok])`)
    expect(told(ended)).toEqual({ value: [dir, true], notices: SHORT })
  })

  test('is waited for before a program is started', async () => {
    const ended = await withFewFiles(`
      const { runProgram } = await import(${source('host/process.ts')})
      fill()
      const printed = []
      const how = { argv: ['echo', 'hello'], dir: '/', env: process.env, stdin: '', graceMs: 100 }
      const exit = await runProgram({ ...how, onLine: (line) => void printed.push(line) })
      tell([exit.code, printed])`)
    expect(told(ended)).toEqual({ value: [0, ['hello']], notices: SHORT })
  })

  test('is not waited for by a program that is no longer wanted', async () => {
    const ended = await withFewFiles(`
      const { runProgram } = await import(${source('host/process.ts')})
      const stop = new AbortController()
      onNotice(() => stop.abort())
      fill()
      const how = { argv: ['echo', 'hello'], dir: '/', env: process.env, stdin: '', graceMs: 100 }
      tell(await runProgram({ ...how, signal: stop.signal }))`)
    expect(told(ended).value).toEqual({ code: null, signal: null, stopped: 'told' })
  })

  test('is waited for before a saved fact is written to its transcript', async () => {
    const home = temporaryFolder()
    const ended = await withFewFiles(`
      const { openStore } = await import(${source('host/sqlite.ts')})
      const { START, specOf, works } = await import(${source('engine/stories.test-support.ts')})
      const { startLoop } = await import(${source('engine/loop.ts')})
      const { step } = await import(${source('engine/step.ts')})
      const store = openStore(${JSON.stringify(home)}, Date.now)
      const loop = startLoop('a', specOf(), { at: START, tree: 'tree 0' })
      await store.create(loop)
      const lease = await store.lease('a')
      fill()
      const fact = works(loop)
      await store.save(lease, step(loop, fact), fact)
      tell(store.transcripts.story('a').facts.length)`)
    expect(told(ended)).toEqual({ value: 1, notices: SHORT })
  })

  test('is waited for before a program is started by a shell that must fork', async ({ skip }) => {
    const asNobody = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups']
    const canRead = spawnSync('setpriv', [
      ...asNobody.slice(1),
      process.execPath,
      '-e',
      `import(${source('host/process.ts')})`,
    ])
    skip(canRead.status !== 0, 'only root can switch to another user, whose processes are counted')
    const ended = await startScript(
      `
      import { execFileSync } from 'node:child_process'
      import { readdirSync, readFileSync } from 'node:fs'
      const { runProgram } = await import(${source('host/process.ts')})
      const { onNotice } = await import(${source('host/waiting.ts')})
      const statusOf = (pid) => { try { return readFileSync('/proc/' + pid + '/status', 'utf8') } catch { return '' } }
      const processes = readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
      const theirs = processes.map(statusOf).filter((status) => /^Uid:\\s+54321/m.test(status))
      const threads = theirs.reduce((sum, status) => sum + Number(/^Threads:\\s+(\\d+)/m.exec(status)?.[1]), 0)
      const limit = (count) => execFileSync('prlimit', ['--pid', String(process.pid), '--nproc=' + count + ':'])
      limit(threads + 1)
      const notices = []
      onNotice((text) => { notices.push(text); limit(10_000) })
      const how = { argv: ['true'], dir: '/', env: process.env, stdin: '', graceMs: 100 }
      console.log(JSON.stringify({ value: await runProgram(how), notices }))`,
      {},
      asNobody,
    ).ended
    const notices = [expect.stringMatching(/no more processes can be started.*Waiting.*ulimit -u/)]
    expect(told(ended)).toEqual({ value: { code: 0, signal: null }, notices })
  })

  test('is not waited for if it can never have any', async () => {
    const ended = await withFewFiles(`
      const { openRepository } = await import(${source('host/git.ts')})
      onNotice((text) => notices.push(text))
      fill()
      tell(await openRepository(${JSON.stringify(process.cwd())}).catch(({ code, message }) => ({ code, message })))`)
    const message = expect.stringMatching(
      /^A program could not be started: ralph has too many files open\. .*ulimit -n/,
    )
    expect(told(ended)).toEqual({ value: { code: 'machine-limit', message }, notices: SHORT })
  })

  test('is not waited for forever', async () => {
    const cause = Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' })
    const fails = async () => Promise.reject(cause)
    const error = await waitForRoom(fails, { patienceMs: 20 }).catch((found) => found)
    expect(error).toBeInstanceOf(RalphError)
    expect(error).toMatchObject({ code: 'machine-limit', cause, message: expect.stringContaining('ulimit -u') })
  })

  test('is no reason to wait if something else is wrong', async () => {
    const cause = Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' })
    const fails = async () => Promise.reject(cause)
    await expect(waitForRoom(fails)).rejects.toBe(cause)
  })
})

test.each(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])('%s is reported with what to do', (code) => {
  const cause = Object.assign(new Error(code), { code })
  const error = inPlainWords(cause, '/some/where')
  expect(error).toMatchObject({ name: 'RalphError', code: 'machine-limit', cause })
  expect(String(error)).toMatch(/\/some\/where.*(ulimit|Stop other programs)/)
})

test('a notice goes to the latest listener', async () => {
  const heard: string[] = []
  const cause = Object.assign(new Error('EAGAIN'), { code: 'EAGAIN' })
  const ends = [onNotice(() => heard.push('first')), onNotice(() => heard.push('second'))]
  let tries = 0
  await waitForRoom(async () => (heard.length === 0 && tries++ < 1_000 ? Promise.reject(cause) : 'there'))
  for (const end of ends) end()
  expect(heard).toEqual(['second'])
})
