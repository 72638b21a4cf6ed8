/** `ralph task`: the task API, call by call, for shells and programs in other languages. */
import { basename, resolve } from 'node:path'
import { nearest } from '../../formats/nearest.ts'
import { pathBelow } from '../../host/files.ts'
import { TaskNotFoundError } from '../../vault/errors.ts'
import { taskIdOf } from '../../vault/place.ts'
import { RalphWiggum } from '../../vault/ralph-wiggum.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'
import { CALLS } from './task-calls.ts'
import { SHARED, type VerbName, verbs } from './task-words.ts'
import { mustBeVault, noteBeside, vaultFor } from './vault-place.ts'

const spec: CommandSpec = {
  name: 'task',
  words: 'VERB …',
  summary: 'The tasks of a vault, call by call: for scripts, hooks and programs in other languages.',
  about: `A task is a file in a vault, and done when it lies in Done. Whoever starts it here works on it, and counts the iterations.

Verbs:
${verbRows()}

ID is the name of the file without its ending, or a path of the file. The vault is --vault, else RALPH_VAULT, else the one FILE or this
folder lies in. \`ralph task VERB --help\` tells the options of each.
Exit codes: 0 it worked, 1 it is not allowed now (of check-complete: not done), 2 wrong use or no such task.`,
  options: SHARED,
  examples: [
    ['ralph task start Needs_Action/invoice.md --max-iterations 5', 'begin'],
    ['ralph task iterate invoice --action "Draft the letter"', 'an iteration is over'],
    ['ralph task list --status waiting_approval', 'what waits for you'],
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
    const named = args.text('vault')
    const vault = vaultFor(context, {
      ...(named === undefined ? {} : { named }),
      ...(name === 'start' && word !== undefined ? { file: word } : {}),
    })
    if (name !== 'start') mustBeVault(context, vault)
    const { env, home, now, out } = context
    const ralph = new RalphWiggum({ vaultPath: vault, env, home, now, onNote: noteBeside(context) })
    try {
      const id = word === undefined || name === 'start' ? '' : await idMeant(ralph, word, { vault, cwd: context.cwd })
      const { json, text, code = 0 } = await CALLS[name]({ ralph, args, context, vault, id })
      out.write(args.flag('json') ? json.map((value) => `${JSON.stringify(value)}\n`).join('') : text)
      return code
    } finally {
      await ralph.close()
    }
  },
}

function verbNamed(verb: string | undefined): VerbName {
  const names = Object.keys(verbs) as VerbName[] // which are its keys by its type
  const found = names.find((name) => name === verb)
  if (found) return found
  if (verb === undefined) throw usage(spec, `Say what to do: ralph task ${names.join('|')}.`)
  const close = nearest(verb, names)
  throw usage(spec, `There is no verb "${verb}".${close ? ` Did you mean "ralph task ${close}"?` : ''}`)
}

/** The one word that most verbs need. Behind `--` it may begin with a dash. */
function onlyWord(args: Args, name: VerbName): string | undefined {
  const [word, ...more] = [...args.words, ...args.rest]
  const wanted = name === 'list' ? undefined : name === 'start' ? 'FILE' : 'ID'
  if (wanted !== undefined && !word) throw usage(args.spec, `${wanted} is missing: ralph task ${name} ${wanted}.`)
  const [surplus] = wanted === undefined ? [word] : more
  if (surplus !== undefined) throw usage(args.spec, `Too many words: "${surplus}".`)
  return word
}

/** People also name the file, or where it lies. Only the very file of a task stands for it. */
async function idMeant(ralph: RalphWiggum, given: string, at: { vault: string; cwd: string }): Promise<string> {
  const stem = taskIdOf(given)
  const isPath = given.includes('/')
  if (stem === given || (isPath && !liesIn(at, given))) return given
  if (!isPath && (await fileOf(ralph, given)) !== undefined) return given
  return (await fileOf(ralph, stem)) === basename(given) ? stem : given
}

function liesIn({ vault, cwd }: { vault: string; cwd: string }, path: string): boolean {
  return [cwd, vault].some((base) => pathBelow(vault, resolve(base, path)) !== undefined)
}

async function fileOf(ralph: RalphWiggum, id: string): Promise<string | undefined> {
  try {
    return basename((await ralph.getTaskState({ task_id: id, history_limit: 0 })).task_file)
  } catch (cause) {
    if (cause instanceof TaskNotFoundError) return undefined
    throw cause
  }
}
