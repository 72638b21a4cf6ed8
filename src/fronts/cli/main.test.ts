import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

type Ran = { code: number; out: string; err: string }

/** Runs a command line in an empty folder with its own home. */
async function ralph(...argv: string[]): Promise<Ran> {
  const [out, err] = [openRecorder(), openRecorder()]
  const folder = temporaryFolder()
  const machine = {
    env: { RALPH_HOME: `${folder}/home`, HOME: folder, PATH: '/nowhere' },
    cwd: () => folder,
    stdin: Readable.from([]),
    stdout: out.stream,
    stderr: err.stream,
  }
  const code = await main(argv, { root: '/ralph', version: '0.0.0' }, machine)
  return { code, out: out.text(), err: err.text() }
}

test('without a command, the overview is printed and the exit code is 2', async () => {
  expect(await ralph()).toMatchObject({ code: 2, out: expect.stringContaining('Commands:\n'), err: '' })
})

test.each([[['help']], [['--help']], [['-h']]])('%j prints the overview', async (argv) => {
  expect(await ralph(...argv)).toMatchObject({ code: 0, out: expect.stringContaining('  ralph run "Make'), err: '' })
})

test.each([[['help', 'task', 'start']], [['task', 'start', '--help']], [['task', 'start', 'x', '-h']]])(
  '%j prints the help of that verb',
  async (argv) => {
    expect(await ralph(...argv)).toMatchObject({ code: 0, out: expect.stringContaining('  ralph task start ') })
  },
)

test.each<[argv: string[], code: number, says: string]>([
  [['statsu'], 2, 'Unknown command: "statsu". Did you mean "ralph stat'],
  [['constructor'], 2, 'Unknown command: "constructor".'],
  [['show', 'nosuch'], 2, 'No such loop: nosuch'],
  [['run', 'x', '--agent', 'claude'], 3, 'claude'],
])('%j ends with exit code %i and a message', async (argv, code, says) => {
  const ran = await ralph(...argv)
  expect(ran).toMatchObject({ code, out: '' })
  expect(ran.err).toMatch(/^ralph: [^\n]+\n$/)
  expect(ran.err).toContain(says)
})

test('with --json, an error is printed as an object too', async () => {
  const { out, err } = await ralph('status', 'nosuch', '--json')
  expect(JSON.parse(out)).toEqual({ type: 'error', code: 'loop-unknown', message: err.slice('ralph: '.length).trim() })
})

test('--help after two dashes does not ask for help', async () => {
  expect(await ralph('show', 'nosuch', '--', '--help')).toMatchObject({ code: 2, out: '' })
})
