/** `ralph task`: the task API, call by call, for shells and programs in other languages. */
import { nearest } from '../../formats/nearest.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { CALLS } from './task-calls.ts'
import { SHARED, type VerbName, verbs } from './task-words.ts'
import { jsonLine } from './text.ts'

const spec: CommandSpec = {
  name: 'task',
  words: 'VERB …',
  summary: 'Manages the tasks of a vault one call at a time, for scripts, hooks and other programs.',
  about: `A task is a file in a vault; it is done when the file is in Done. The caller that starts a task does the work; ralph counts the iterations.

Verbs:
${verbRows()}

ID is the file name without its extension, or the path of the file. The vault is --vault, then RALPH_VAULT, then the one that contains
FILE or this folder. \`ralph task VERB --help\` lists the options of a verb.
Exit codes: 0 success, 1 not allowed now (check-complete: not done), 2 usage error or no such task.`,
  options: SHARED,
  examples: [
    ['ralph task start Needs_Action/invoice.md --max-iterations 5', 'start a task'],
    ['ralph task iterate invoice --action "Draft the letter"', 'record an iteration'],
    ['ralph task list --status waiting_approval', 'what is waiting for you'],
  ],
}

function verbRows(): string {
  const rows = Object.entries(verbs).map(([name, { words, summary }]) => [
    `${name} ${words.replace(' [options]', '').replace('[options]', '')}`.trim(),
    summary,
  ])
  const width = Math.max(...rows.map(([left = '']) => left.length))
  return rows.map(([left = '', summary]) => `  ${left.padEnd(width)}  ${summary}`).join('\n')
}

export const task: Command = {
  spec,
  verbs,
  async run([verb, ...argv], context) {
    const name = verbNamed(verb)
    const args = parseArgs(verbs[name], argv)
    const word = onlyWord(args, name)
    const vault = args.text('vault')
    const {
      json,
      text,
      code = 0,
    } = await CALLS[name]({
      args,
      context,
      word: word ?? '',
      ...given({ vault }),
    })
    context.out.write(args.flag('json') ? json.map((value) => jsonLine(value)).join('') : text)
    return code
  },
}

function verbNamed(verb: string | undefined): VerbName {
  const names = Object.keys(verbs) as VerbName[] // Object.keys loses the type
  const found = names.find((name) => name === verb)
  if (found) return found
  if (verb === undefined) throw usage(spec, `Missing verb: ralph task ${names.join('|')}.`)
  const close = nearest(verb, names)
  throw usage(spec, `Unknown verb: "${verb}".${close ? ` Did you mean "ralph task ${close}"?` : ''}`)
}

/** The one argument that most verbs need. After `--` it may start with a dash. */
function onlyWord(args: Args, name: VerbName): string | undefined {
  const [word, ...more] = [...args.words, ...args.rest]
  const wanted = name === 'list' ? undefined : name === 'start' ? 'FILE' : 'ID'
  if (wanted !== undefined && !word) throw usage(args.spec, `Missing ${wanted}: ralph task ${name} ${wanted}.`)
  const [surplus] = wanted === undefined ? [word] : more
  if (surplus !== undefined) throw usage(args.spec, `Unexpected argument: "${surplus}".`)
  return word
}
