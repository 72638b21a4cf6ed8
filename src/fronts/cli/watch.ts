/** `ralph watch`: works on the task files of a vault. */
import { resolve } from 'node:path'
import { loadConfig } from '../../host/config.ts'
import { type WatchEvent, type Watched, type Watching, watchVault } from '../../operations/watch-vault.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { onInterrupt } from './interrupt.ts'
import { notifyText } from './notify.ts'
import { agentRequest, PROOF_OPTIONS, proofRequest, withHelp } from './request.ts'
import { runSpec } from './run-options.ts'
import { openWatchJsonView } from './watch-json.ts'
import { openWatchView, troubleWords } from './watch-view.ts'

const SHARED = [
  'agent',
  'model',
  'permissions',
  'sandbox',
  'sandbox-allow',
  'max-cost',
  'overload',
  'on-limit',
  'silence',
  'check-timeout',
  ...PROOF_OPTIONS,
  'notify',
  'json',
]

const spec: CommandSpec = {
  name: 'watch',
  words: 'VAULT [options] [-- arguments for the agent]',
  summary: 'Works on the task files of a vault as they arrive.',
  about: `VAULT is a folder. Every file in VAULT/Needs_Action is a task: an agent works on it until it has moved the file to Done. A file
in Pending_Approval waits for you; failed tasks go to Failed, with a note. The agent, limits and checks that a task file names
(docs/vault.md) override these options. Ctrl-C stops after the current iterations, a second Ctrl-C at once; run the same command
to resume.
Exit codes with --once: 0 all completed, 1 some failed or are unreadable, 4 some are waiting for you. Always: 2 usage error, 3 agent missing or unusable, 130 stopped.`,
  options: {
    once: { help: 'work through the tasks in the vault, then exit' },
    concurrency: { value: 'N', help: 'work on up to N tasks at once (default: 1)' },
    'max-iterations': { value: 'N', help: 'iteration limit per task (default: 10)' },
    timeout: {
      value: 'MIN',
      help: 'time limit per task in minutes, not counting time spent waiting for you (default: 30)',
    },
    verify: {
      value: 'CMD',
      many: true,
      help: "check that every task must pass in addition to its own, or auto for the vault's own checks; runs without a shell; may be repeated",
    },
    ...Object.fromEntries(Object.entries(runSpec.options).filter(([name]) => SHARED.includes(name))),
  },
  examples: [
    ['ralph watch ~/Vault --agent claude', 'until Ctrl-C'],
    ['ralph watch ~/Vault --agent claude --concurrency 4 --once', 'the tasks in the vault now, four at a time'],
  ],
}

export const watch: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const vault = vaultGiven(args)
    const view = args.flag('json') ? openWatchJsonView(context) : openWatchView(context)
    const note = (text: string) => view.tell({ kind: 'note', text })
    const stopping = onInterrupt({
      pausing: 'Stopping after the current iterations. Press Ctrl-C again to stop at once.',
      say: note,
    })
    const messages = openMessages(context, vault, args.flag('notify'))
    const listener = {
      ...view,
      ...stopping,
      tell(event: WatchEvent) {
        view.tell(event)
        messages.send(event)
      },
    }
    try {
      const { watched, useless } = await withHelp(spec, watchVault(context, watchingOf(args, vault), listener))
      await messages.sent()
      view.end(watched, stopping.rest.aborted)
      return useless ? 3 : stopping.rest.aborted ? 130 : exitCode(watched)
    } finally {
      stopping.release()
    }
  },
}

function vaultGiven({ words: [vault] }: Args): string {
  if (vault) return vault
  throw usage(spec, 'Missing vault folder: ralph watch ~/Vault.')
}

function watchingOf(args: Args, vault: string): Watching {
  return {
    ...given({
      vault,
      slots: args.whole('concurrency', 1) ?? 1,
      once: args.flag('once'),
      checks: args.many('verify'),
      agent: args.text('agent'),
      maxIterations: args.whole('max-iterations', 1),
      timeoutMinutes: args.amount('timeout'),
      limits: given({ costUsd: args.amount('max-cost') }),
    }),
    ...agentRequest(args),
    ...proofRequest(args),
  }
}

/** Notifications for a user who is away, sent while the work continues. */
function openMessages(
  context: Context,
  vault: string,
  asked: boolean,
): { send(event: WatchEvent): void; sent(): Promise<unknown> } {
  const webhook = loadConfig(context.home, resolve(context.cwd, vault)).notify_webhook
  const open = new Set<Promise<unknown>>()
  return {
    send(event) {
      if (!asked && webhook === undefined) return
      const message = notifyTrouble(context, event, webhook).finally(() => open.delete(message))
      open.add(message)
    },
    sent: () => Promise.all(open),
  }
}

/** What the user needs to know: a task failed, or waits for them or for a rate limit. */
async function notifyTrouble(context: Context, event: WatchEvent, webhook: string | undefined): Promise<void> {
  const trouble = troubleWords(event)
  if (!trouble) return
  const { task, status, text } = trouble
  await notifyText(
    { title: `ralph: ${task} ${status}`, text },
    { type: 'task', task_id: task, status, sentence: text },
    given({ context, webhook }),
  )
}

function exitCode({ failed, waiting }: Watched): number {
  return failed > 0 ? 1 : waiting > 0 ? 4 : 0
}
