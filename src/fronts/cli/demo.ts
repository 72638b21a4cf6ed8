/** `ralph demo`: one loop in half a minute, or a board full of loops; needs no account or API key. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git } from '../../host/git.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { cartFiles, cartTurns } from './demo/cart.ts'
import { serveDemo } from './demo/serve.ts'
import { paint } from './text.ts'

const spec: CommandSpec = {
  name: 'demo',
  words: '[options]',
  summary:
    'Shows a loop at work: a scripted agent lies, edits a test, then does the work. Needs no account or API key.',
  about: `With --serve, it serves a sample board instead: two small repositories, tasks, and loops that are done, stuck, waiting for you,
and running. It takes about half a minute. Everything is in a temporary folder with its own RALPH_HOME; Ctrl-C stops it.`,
  options: {
    serve: { help: 'serve a sample board, as `ralph serve` does' },
    port: { value: 'P', help: 'with --serve: port to listen on (default: 4444, or the next free one; 0: any)' },
    open: { help: 'with --serve: open the page in your browser' },
  },
  examples: [
    ['ralph demo', 'one loop, in the terminal'],
    ['ralph demo --serve --open', 'a board full of loops, in the browser'],
  ],
}

export const demo: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    if (args.flag('serve')) return serveDemo(args, context)
    const idle = ['port', 'open'].find(args.flag)
    if (idle) throw usage(spec, `--${idle} needs --serve.`)
    const { out } = context
    const folder = await makeProject()
    const env = { ...context.env, RALPH_HOME: join(folder, 'home') }
    const say = (text: string) => out.write(`${paint(out, 'bold', text)}\n\n`)

    say(`A small project with failing tests is in ${join(folder, 'project')}.`)
    out.write(
      `The agent is a script that tries two tricks before it does the work:
  1  It claims to be done while the tests fail.
  2  It edits the tests until they pass.
  3  It restores the tests and fixes half of the bugs.
  4  It fixes the rest.

`,
    )
    const words = ['run', 'Make the cart tests pass.', '--agent', 'scripted:../script.json', '--verify', 'node --test']
    out.write(
      paint(
        out,
        'dim',
        `$ ralph run "Make the cart tests pass." --agent scripted:../script.json --verify "node --test"\n`,
      ),
    )
    const code = await ralph(context, words, folder, env)
    if (code !== 0) return code

    out.write(`
In iteration 2 the tests passed, but the agent had edited them. So ralph tried two more combinations in a separate worktree: the
agent's work with the original tests (sealed), which fails, and the agent's tests without its work (reversed), which passes. That
shows that the check passed because of the edited tests, not because of any work. The control run rules out the worktree as a cause.
`)
    out.write(paint(out, 'dim', '\n$ ralph show\n'))
    await ralph(context, ['show'], folder, env)
    out.write('\n')
    out.write(`To see this again: RALPH_HOME=${env.RALPH_HOME} ralph show\n\n`)
    say('With a real agent, in your own project:')
    out.write(`  ralph run "Make the tests pass" --agent claude --verify "npm test"

Any program that reads a prompt from stdin and prints its answer can be the agent: --agent command:"program --its-flags".
See \`ralph help run\` for all options.
`)
    return 0
  },
}

async function ralph(
  { root }: Context,
  words: readonly string[],
  folder: string,
  env: Record<string, string | undefined>,
): Promise<number> {
  const child = spawn(process.execPath, [join(root, 'bin', 'ralph.cjs'), ...words], {
    cwd: join(folder, 'project'),
    env: { ...env },
    stdio: 'inherit',
  })
  const ignore = () => {} // Ctrl-C also reaches the child, which handles it
  process.on('SIGINT', ignore)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', ignore)
  return typeof code === 'number' ? code : 1
}

async function makeProject(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-demo-'))
  const project = join(folder, 'project')
  mkdirSync(project)
  for (const [name, content] of Object.entries(cartFiles())) writeFileSync(join(project, name), content)
  const turns = cartTurns({ seconds: 0.6 })
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ turns }, null, 2))
  const identity = ['-c', 'user.name=ralph', '-c', 'user.email=ralph@localhost']
  await git(project, ['init', '--quiet'])
  await git(project, ['add', '--all'])
  await git(project, [...identity, 'commit', '--quiet', '--message', 'A cart that does not add up'])
  return folder
}
