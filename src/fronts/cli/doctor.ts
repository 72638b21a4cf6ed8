/** `ralph doctor`: checks what ralph needs, lists the installed agents, and rebuilds a damaged database. */
import type { Rebuilt } from '../../drive/rebuild.ts'
import { RalphError } from '../../error.ts'
import { git } from '../../host/git.ts'
import { findProgram } from '../../host/process.ts'
import { fleetFindings } from '../../operations/fleet-findings.ts'
import { type Executor, listExecutors } from '../../operations/list-executors.ts'
import { rebuild } from '../../operations/rebuild.ts'
import { repairAll } from '../../operations/repair-checkouts.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { count, jsonLine, paint } from './text.ts'

const spec: CommandSpec = {
  name: 'doctor',
  words: '[options]',
  summary: 'Checks Node, the home folder, the database and git, and shows which agents are installed.',
  about: `Calls no model. Agents are listed in the order in which --agent auto tries them. With a fleet database, it also checks the
version, tables, privileges, TLS, clock, connections, scheduler and workers.`,
  options: {
    rebuild: { help: 'move the database aside and rebuild it from the transcripts' },
    json: { help: 'print one JSON object per line' },
  },
}

/** `needed`: ralph does not work without it. `warns`: the user should fix it. */
type Finding = { warns?: true; what: string; ok: boolean; needed: boolean; says: string; [more: string]: unknown }

export const doctor: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const json = args.flag('json')
    if (args.flag('rebuild')) {
      const rebuilt = await rebuild.run(context, {})
      context.out.write(json ? jsonLine({ what: 'rebuild', ok: true, ...rebuilt }) : rebuiltSentence(rebuilt))
    }
    const repaired = (context.database === undefined ? await repairAll(context) : []).map((says) => ({
      what: 'checkout',
      ok: true,
      needed: false,
      says,
    }))
    const stored = context.database === undefined ? [await database(context)] : await fleetFindings(context)
    const own = [node(), ...stored, await gitFound(context), ...toolsFound(context), ...repaired]
    const here = (await listExecutors.run(context, {})).executors.map(agentFound)
    for (const finding of own) print(context, finding, json)
    if (!json) context.out.write('\n')
    for (const finding of here) print(context, finding, json)
    return [...own, ...here].every(({ ok, needed }) => ok || !needed) ? 0 : 1
  },
}

function print({ out }: Context, finding: Finding, json: boolean): void {
  const { needed, warns, ...found } = finding
  if (json) {
    out.write(jsonLine(found))
    return
  }
  const mark = found.ok ? paint(out, 'green', '✓') : needed ? paint(out, 'red', '✗') : unneeded(out, warns)
  out.write(
    `${mark} ${found.what.padEnd(10)} ${found.ok || needed || warns ? found.says : paint(out, 'dim', found.says)}\n`,
  )
}

function unneeded(out: Context['out'], warns: true | undefined): string {
  return warns ? paint(out, 'yellow', '!') : paint(out, 'dim', '·')
}

function node(): Finding {
  return { what: 'node', ok: true, needed: true, says: process.version }
}

async function database(context: Context): Promise<Finding> {
  try {
    const store = context.store()
    const problem = await store.selfCheck()
    const { rows: loops } = await store.list({ limit: 1_000_000 })
    const says = problem ?? `${context.home}: ${count(loops.length, 'loop')}`
    return { what: 'database', ok: !problem, needed: true, says }
  } catch (cause) {
    if (cause instanceof RalphError) return { what: 'database', ok: false, needed: true, says: cause.message }
    throw cause
  }
}

async function gitFound({ cwd }: Context): Promise<Finding> {
  const version = await git(cwd, ['--version'])
  const says =
    version?.replace('git version ', '') ??
    'not found; without it there are no checkpoints, and ralph sees less of what an agent changes'
  return { what: 'git', ok: version !== undefined, needed: true, says }
}

function toolsFound({ cwd, env }: Context): Finding[] {
  return [
    ['tmux', 'tmux', '; ralph dispatch needs it'],
    ['bwrap', 'bubblewrap', '; --sandbox needs it'],
  ].map(([program = '', name = '', what]) => {
    const path = findProgram(program, cwd, env.PATH)
    return { what: name, ok: path !== undefined, needed: false, says: path ?? `not found${what}` }
  })
}

/** A missing agent is not an error: one is enough. */
function agentFound({ name, state, path, version, tested, can, install }: Executor): Finding {
  if (state === 'not-found')
    return { what: name, ok: false, needed: false, says: `not installed; npm install -g ${install}` }
  const words = can.map((what) => (what === 'context' ? 'one session' : what))
  const { login, says } = LOGIN[state]
  return {
    what: name,
    ok: state !== 'needs-login',
    needed: false,
    says: [versionWords(version, tested), says, words.join(', '), path].join(' · '),
    path,
    version: version ?? null,
    tested,
    login,
    can: words,
  }
}

const LOGIN = {
  ready: { login: 'yes', says: 'logged in' },
  'needs-login': { login: 'no', says: 'not logged in: start it once to log in' },
  unknown: { login: 'unknown', says: 'login unknown' },
} as const

function versionWords(version: string | undefined, tested: string): string {
  if (version === undefined) return 'version unknown'
  if (version === tested) return `${version} (tested)`
  return isNewer(version, tested)
    ? `${version} (newer than the tested ${tested})`
    : `${version} (older than the tested ${tested})`
}

function isNewer(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) > 0
}

function rebuiltSentence({ loops, facts, aside, lost }: Rebuilt): string {
  const made = `Rebuilt the database: ${count(loops, 'loop')}, ${count(facts, 'fact')}.${aside ? ` The old one is now ${aside}.` : ''}\n`
  return [made, ...lost.map((one) => `${lostSentence(one)}\n`)].join('')
}

/** What can no longer be read from the transcript of a loop. */
function lostSentence({ loop, facts, of }: Rebuilt['lost'][number]): string {
  return of === undefined
    ? `The transcript of loop ${loop} is damaged from the start, so the loop is not in the new database.`
    : `The transcript of loop ${loop} is damaged: only the first ${facts} of ${of} facts can be read, so the loop is back in that earlier state.`
}
