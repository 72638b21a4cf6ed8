/** Starts an agent in its pane: in its own terminal, with the hooks that make its client report to ralph. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { makePrivateFolder } from '../host/files.ts'
import { findProgram } from '../host/process.ts'
import { secretsOf } from '../host/sealed.ts'
import type { Pane } from './pane.ts'
import type { Site } from './site.ts'

/** Continues its own session if it has one and `resume` says so. `env`: additional environment variables. */
export async function startAgent(
  site: Site,
  pane: Pane,
  { dir, resume, env = {} }: { dir: string; resume: boolean; env?: Readonly<Record<string, string>> },
): Promise<void> {
  const { home, tmux, now } = site
  const { agent, facts } = pane.record
  const { session } = facts
  const folder = join(home, 'panes', pane.tag)
  makePrivateFolder(folder)
  const { argv, env: own } = commandOf(site, pane, { dir, folder, resume })
  const [program = ''] = argv
  if (!findProgram(program, dir, site.env.PATH))
    throw new RalphError('agent-missing', `"${program}" was not found. Install it, or give its path.`)
  // What was true of the previous program does not apply to this one.
  const launch = (facts.launch ?? 0) + 1
  await pane.knows({
    dir,
    launch,
    startedAt: now(),
    ...(resume && session !== undefined ? { session } : {}),
    ...(facts.sent ? { sent: facts.sent } : {}),
    ...(facts.over ? { over: facts.over } : {}),
    ...(facts.failed ? { failed: facts.failed } : {}),
  })
  const [node = '', hook = ''] = site.hook
  const server = await tmux.start({
    tag: pane.tag,
    title: agent.name,
    dir,
    argv: ['sh', '-c', LEADER, AROUND, ...argv],
    env: {
      ...(site.env.PATH === undefined ? {} : { PATH: site.env.PATH }),
      ...own,
      ...env,
      RALPH_HOME: home,
      RALPH_PANE: `${pane.key.crew}/${pane.key.name}`,
      RALPH_PANE_LAUNCH: String(launch),
      RALPH_PANE_NODE: node,
      RALPH_PANE_HOOK: hook,
    },
  })
  await pane.knows({ ...pane.record.facts, server, startedAt: now() })
}

type Where = { dir: string; folder: string; resume: boolean }

/** The command that starts it, with its client's hooks. */
function commandOf(
  site: Site,
  { kind, target, record: { agent, facts } }: Pane,
  { dir, folder, resume }: Where,
): { argv: string[]; env: Record<string, string> } {
  const { session } = facts
  const secrets = secretsOf(site.home, agent)
  const machineFile = (variable: string, paths: readonly string[]) => {
    const path = site.env[variable] ?? paths.find((one) => existsSync(one))
    return path !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : undefined
  }
  const telling = kind.pane?.({ hook: site.hook, plugins: site.plugins, folder, machineFile })
  for (const { path, text } of telling?.files ?? []) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  const { argv, env } = kind.command({
    prompt: '',
    mode: 'interactive',
    permissions: agent.permissions,
    sandbox: false,
    target: secrets.open(target),
    extraArgs: [...agent.args.map(secrets.open), ...(telling?.args ?? [])],
    dir,
    folder,
    self: site.self,
    at: site.now(),
    ...(agent.model === undefined ? {} : { model: agent.model }),
    ...(resume && session !== undefined ? { resume: { id: session, costUsd: 0 } } : {}),
  })
  return { argv, env: { ...env, ...telling?.env } }
}

// A closed terminal notifies only the first program in it. When that one exits, the system notifies the others;
// otherwise the agent would keep working where nobody sees it.
const LEADER = `trap : INT QUIT
sh -c "$0" ralph "$@"
exit $?`

// Keys such as Ctrl-C belong to the program. A closed terminal is reported as well, as long as that is possible.
const AROUND = `closed=; trap : INT QUIT; trap 'closed=,\\"closed\\":true' HUP
"$@"
code=$?
trap '' HUP
printf '{"event":"ended","code":%d%s}' "$code" "$closed" | "$RALPH_PANE_NODE" "$RALPH_PANE_HOOK" >/dev/null 2>&1
exit "$code"`
