/** `ralph mcp`: ralph as an MCP server on stdin and stdout. Its bundle is loaded only here. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RalphError } from '../../error.ts'
import { PLACES } from '../../install/agents.ts'
import { envFor, MCP_AGENTS, printMcp } from '../../install/mcp.ts'
import { given } from '../../request/given.ts'
import { type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { siteOf } from './install.ts'

const spec: CommandSpec = {
  name: 'mcp',
  words: '[options]',
  summary: 'Runs an MCP server on stdin and stdout that lets an agent manage tasks and loops.',
  about: `An agent starts it by itself once it is in the agent's settings: \`ralph install AGENT --mcp\` adds it.
It runs the loops it starts, unless \`ralph serve\` is running, which then runs them. docs/mcp.md lists the tools.`,
  options: {
    'print-config': { value: 'AGENT', help: `print what to add to the settings of AGENT: ${MCP_AGENTS.join(', ')}` },
    project: { help: 'with --print-config: for this folder only' },
    loop: { help: 'offer the tools for an agent inside a loop (started by `ralph run --mcp`)' },
  },
  examples: [
    ['ralph mcp --print-config claude', 'what to add to which file'],
    ['ralph install claude --mcp', 'let ralph add it'],
  ],
}

/** What the bundle `server` exports. */
type ServerBundle = Record<
  'mcp' | 'mcpInside',
  (ralph: Pick<Context, 'root' | 'database'>, machine: Context['machine']) => Promise<number>
>

export const mcp: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 0)
    const agent = args.text('print-config')
    if (agent === undefined && args.flag('project')) throw usage(spec, '--project needs --print-config AGENT.')
    if (agent !== undefined && args.flag('loop')) throw usage(spec, 'Use either --print-config or --loop, not both.')
    if (agent !== undefined) return printConfig(context, agent, args.flag('project') ? 'project' : 'user')
    const { root, machine, database } = context
    const bundle = (await import(pathToFileURL(join(root, 'dist', 'server.mjs')).href)) as ServerBundle
    // The agent of a loop does not get the password of a database, so its reports go to the local one.
    return args.flag('loop')
      ? bundle.mcpInside({ root }, machine)
      : bundle.mcp({ root, ...given({ database }) }, machine)
  },
}

function printConfig(context: Context, agent: string, scope: 'user' | 'project'): number {
  const place = Object.hasOwn(PLACES, agent) ? PLACES[agent] : undefined
  if (!place || !MCP_AGENTS.includes(agent))
    throw new RalphError('usage', `Cannot set up MCP for "${agent}". Choose from ${MCP_AGENTS.join(', ')}.`)
  const site = siteOf(context, scope)
  const argv = [process.execPath, join(context.root, 'bin', 'ralph.cjs'), 'mcp']
  const server = { argv, env: envFor(site.home, site.person) }
  const { path, text } = printMcp(agent, { site, folder: place.folder(site), server })
  // Goes to stderr, so that the text itself can be piped.
  context.err.write(`For ${place.title}, in ${path}:\n`)
  context.out.write(`${text}\n`)
  return 0
}
