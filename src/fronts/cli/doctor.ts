/** `ralph doctor`: is everything there that ralph needs, and can a damaged database be made anew? */

import { agents } from '../../agents/index.ts'
import { RalphError } from '../../error.ts'
import { git } from '../../host/git.ts'
import { probeAgent } from '../../host/probe.ts'
import { type Rebuilt, rebuild } from '../../rebuild.ts'
import { type CommandSpec, parseArgs } from './args.ts'
import type { Command, Context } from './context.ts'
import { count, paint } from './text.ts'

const spec: CommandSpec = {
  name: 'doctor',
  words: '[options]',
  summary: 'Looks whether Node, the home folder, the database and git are in order, and which agents are here.',
  options: {
    rebuild: { help: 'put the database aside and make a new one from the transcripts' },
    json: { help: 'print one JSON object a line' },
  },
}

type Finding = { what: string; ok: boolean; says: string }

export const doctor: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    if (args.flag('rebuild')) {
      const rebuilt = await rebuild(context.home, context.now)
      context.out.write(
        args.flag('json') ? `${JSON.stringify({ what: 'rebuild', ok: true, ...rebuilt })}\n` : rebuiltSentence(rebuilt),
      )
    }
    const findings = [node(), await database(context), await gitFound(context), ...(await agentsFound(context))]
    for (const finding of findings)
      context.out.write(args.flag('json') ? `${JSON.stringify(finding)}\n` : line(context, finding))
    return findings.every(({ ok, what }) => ok || Object.hasOwn(agents, what)) ? 0 : 1
  },
}

function line({ out }: Context, { what, ok, says }: Finding): string {
  return `${paint(out, ok ? 'green' : 'red', ok ? '✓' : '✗')} ${what.padEnd(8)}  ${says}\n`
}

function node(): Finding {
  return { what: 'node', ok: true, says: process.version }
}

async function database(context: Context): Promise<Finding> {
  try {
    const store = context.store()
    const problem = store.selfCheck()
    const loops = await store.list({ limit: 1_000_000 })
    return { what: 'database', ok: !problem, says: problem ?? `${context.home}: ${count(loops.length, 'loop')}` }
  } catch (cause) {
    if (cause instanceof RalphError) return { what: 'database', ok: false, says: cause.message }
    throw cause
  }
}

/** An agent that is not here is no fault: one is enough. */
async function agentsFound({ cwd, env }: Context): Promise<Finding[]> {
  const probed = Object.values(agents).flatMap(({ name, probe }) => (probe ? [{ name, probe }] : []))
  return Promise.all(
    probed.map(async ({ name, probe }) => {
      const found = await probeAgent(probe, { dir: cwd, env })
      return {
        what: name,
        ok: found !== undefined,
        says: found ? [found.version, found.path, LOGIN[found.login]].join(' · ') : 'not found',
      }
    }),
  )
}

const LOGIN = { yes: 'logged in', unknown: 'login not known' } as const

async function gitFound({ cwd }: Context): Promise<Finding> {
  const version = await git(cwd, ['--version'])
  return {
    what: 'git',
    ok: version !== undefined,
    says: version ?? 'not found: ralph works, but can see less of what an agent changes',
  }
}

function rebuiltSentence({ loops, facts, aside }: Rebuilt): string {
  return `Made the database anew: ${count(loops, 'loop')}, ${count(facts, 'fact')}.${aside ? ` The old one is ${aside}.` : ''}\n`
}
