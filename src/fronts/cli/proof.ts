/** `ralph proof`: the evidence behind the grade of a loop, as text, JSON, or a signed statement. */
import { type FoundProof, getProof } from '../../operations/get-proof.ts'
import { NAMESPACE, signProof } from '../../operations/sign-proof.ts'
import { printStatement } from '../../operations/statement.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { LOOP_WORDS } from './loop-words.ts'
import { explainWhy, tryAgain } from './proof-again.ts'
import { printProof } from './proof-view.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'proof',
  words: '[LOOP] [options]',
  summary: 'Shows the evidence behind the grade of a loop: checks before and after, experiments, and files.',
  about: `${LOOP_WORDS}\n--again and --why take at most proof_minutes and change neither your files nor the loop.`,
  options: {
    again: {
      help: 'run the checks and experiments again on the same files, in a clean worktree; exit code 1 if the grade is weaker',
    },
    why: { help: 'find which changed tests or configuration files make the checks pass' },
    json: { help: 'print an in-toto statement (test-result/v0.1)' },
    sign: { value: 'KEY', help: 'write that statement and its signature to files; KEY is an SSH key' },
    output: { value: 'FILE', short: 'o', help: 'with --sign: file to write (default: LOOP.proof.json)' },
  },
  examples: [
    ['ralph proof', 'why the newest loop in this folder counts as done'],
    ['ralph proof --why', 'which changed tests make the checks pass'],
    ['ralph proof --sign ~/.ssh/id_ed25519', 'a proof that others can verify'],
  ],
}

export const proof: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const [name] = args.words
    if (args.flag('output') && !args.flag('sign'))
      throw usage(spec, '-o needs --sign: it names the file that --sign writes.')
    const [chosen, other] = ['again', 'why', 'sign'].filter(args.flag)
    if (other) throw usage(spec, `--${chosen} cannot be combined with --${other}.`)
    if (chosen === 'again') return tryAgain(context, name, args.flag('json'))
    if (chosen === 'why') return explainWhy(context, name, args.flag('json'))
    const found = await getProof.run(context, name === undefined ? {} : { loop: name })
    if (args.flag('sign')) await sign(context, found, args)
    else context.out.write(args.flag('json') ? printStatement(found) : printProof(found, context.out))
    return 0
  },
}

async function sign(context: Context, found: FoundProof, args: Args): Promise<void> {
  const [key = '', file] = [args.text('sign'), args.text('output')]
  const interactive = context.machine.stdin.isTTY === true
  const signed = await signProof(context, found, { key, interactive, ...(file === undefined ? {} : { file }) })
  if (args.flag('json')) return context.out.write(jsonLine({ type: 'proof-signed', ...signed }))
  const { statement, signature } = signed
  context.out.write(`Wrote ${statement} and its signature ${signature}.

To verify it, others need a file with your name and public key on one line:
  echo "you@example.com $(cat ${key.replace(/\.pub$/, '')}.pub)" > allowed_signers
Then they run:
  ssh-keygen -Y verify -f allowed_signers -I you@example.com -n ${NAMESPACE} -s ${signature} < ${statement}
`)
}
