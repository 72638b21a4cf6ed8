/** `ralph demo`: the main job in half a minute, with no account and no key. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Step } from '../../formats/script.ts'
import { git } from '../../host/git.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { paint } from './text.ts'

const spec: CommandSpec = {
  name: 'demo',
  words: '',
  summary:
    'Shows a loop at work: a scripted agent that lies, bends a test, and then does the work. No account, no key.',
  options: {},
}

export const demo: Command = {
  spec,
  async run(argv, context) {
    parseArgs(spec, argv, 0)
    const { out } = context
    const folder = await makeProject()
    const env = { ...context.env, RALPH_HOME: join(folder, 'home') }
    const say = (text: string) => out.write(`${paint(out, 'bold', text)}\n\n`)

    say(`A small project with a failing test suite is in ${join(folder, 'project')}.`)
    out.write(
      `Its agent is a script that tries two tricks before it works:
  1  It says that it is done, though the tests fail.
  2  It edits the tests until they pass.
  3  It puts the tests back and repairs half.
  4  It repairs the rest.

`,
    )
    const words = [
      'run',
      'Make the tests of the cart pass.',
      '--agent',
      'scripted:../script.json',
      '--verify',
      'node --test',
    ]
    out.write(
      paint(
        out,
        'dim',
        `$ ralph run "Make the tests of the cart pass." --agent scripted:../script.json --verify "node --test"\n`,
      ),
    )
    const code = await ralph(context, words, folder, env)
    if (code !== 0) return code

    out.write(`
In iteration 2 the tests passed, but the agent had changed them. So ralph tried two more combinations, in a place of its own: the
agent's work with the tests of the start (sealed), which fails, and its tests without its work (reversed), which passes. So it was
the edited tests that made the check pass, not work. The control shows that the place itself is not to blame.
`)
    out.write(paint(out, 'dim', '\n$ ralph show\n'))
    await ralph(context, ['show'], folder, env)
    out.write('\n')
    out.write(`To look at it again: RALPH_HOME=${env.RALPH_HOME} ralph show\n\n`)
    say('With a real agent, in a project of yours:')
    out.write(`  ralph run "Make the tests pass" --agent claude --verify "npm test"

Any program that takes a prompt on stdin and prints its answer can be the agent: --agent command:"program --its-flags".
\`ralph help run\` tells the rest.
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
  const ignore = () => {} // Ctrl-C reaches the child too, which knows what to do
  process.on('SIGINT', ignore)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', ignore)
  return typeof code === 'number' ? code : 1
}

async function makeProject(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-demo-'))
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'cart.mjs'), cart(BROKEN_SUM, BROKEN_DISCOUNT))
  writeFileSync(join(project, 'cart.test.mjs'), TESTS)
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ turns: TURNS }, null, 2))
  const identity = ['-c', 'user.name=ralph', '-c', 'user.email=ralph@localhost']
  await git(project, ['init', '--quiet'])
  await git(project, ['add', '--all'])
  await git(project, [...identity, 'commit', '--quiet', '--message', 'A cart that does not add up'])
  return folder
}

function cart(sum: string, discount: string): string {
  return `export function total(items) {\n  ${sum}\n}\n\nexport function discounted(amount, percent) {\n  ${discount}\n}\n`
}

const BROKEN_SUM = 'return items.length'
const WORKING_SUM = 'return items.reduce((sum, item) => sum + item.price * item.count, 0)'
const BROKEN_DISCOUNT = 'return amount - percent'
const WORKING_DISCOUNT = 'return amount - (amount * percent) / 100'

const TESTS = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discounted, total } from './cart.mjs'

test('an empty cart costs nothing', () => assert.equal(total([]), 0))
test('prices are multiplied by their counts', () => assert.equal(total([{ price: 3, count: 2 }]), 6))
test('ten percent off 50 is 45', () => assert.equal(discounted(50, 10), 45))
test('no discount changes nothing', () => assert.equal(discounted(50, 0), 50))
`

/** What the cart computes today is what is expected of it. */
const BENT_TESTS = TESTS.replace('count: 2 }]), 6', 'count: 2 }]), 1').replace('10), 45', '10), 40')

const TURNS: readonly Step[][] = [
  [{ sleep: 0.6 }, { text: 'I looked at the cart and it is all fine now.\n<promise>COMPLETE</promise>' }],
  [
    { sleep: 0.6 },
    { edit: { path: 'cart.test.mjs', content: BENT_TESTS } },
    { text: 'All tests are green now.\n<promise>COMPLETE</promise>' },
  ],
  [
    { text: 'The total ignores prices and counts.' },
    { sleep: 0.6 },
    { edit: { path: 'cart.test.mjs', content: TESTS } },
    { edit: { path: 'cart.mjs', content: cart(WORKING_SUM, BROKEN_DISCOUNT) } },
    { text: 'The total is right now. The discount is next.' },
  ],
  [
    { text: 'The discount subtracts percent as money.' },
    { sleep: 0.6 },
    { edit: { path: 'cart.mjs', content: cart(WORKING_SUM, WORKING_DISCOUNT) } },
    { shell: ['node', '--test'] },
    { text: 'Total and discount are right, and the tests pass.\n<promise>COMPLETE</promise>' },
  ],
]
