/** `ralph mcp`: ralph as an MCP server on stdin and stdout. What it needs is loaded only here. */
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
  summary: 'Lets an agent manage tasks and loops: an MCP server on stdin and stdout.',
  about: `An agent starts it by itself, once it is in the agent's settings: \`ralph install AGENT --mcp\` puts it there.
It drives the loops that it is asked to start, unless \`ralph serve\` is running, which does. docs/mcp.md lists the tools.`,
  options: {
    'print-config': { value: 'AGENT', help: `print what to add to the settings of ${MCP_AGENTS.join(', ')}` },
    project: { help: 'with --print-config: for this folder only' },
    loop: { help: 'the tools of an agent inside a loop (`ralph run --mcp` starts it)' },
  },
  examples: [
    ['ralph mcp --print-config claude', 'what to put where'],
    ['ralph install claude --mcp', 'have it put there'],
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
    if (agent !== undefined && args.flag('loop')) throw usage(spec, 'Choose one of --print-config and --loop.')
    if (agent !== undefined) return printConfig(context, agent, args.flag('project') ? 'project' : 'user')
    const { root, machine, database } = context
    const bundle = (await import(pathToFileURL(join(root, 'dist', 'server.mjs')).href)) as ServerBundle
    // The agent of a loop gets no password of a database, so what it reports goes to this machine's own.
    return args.flag('loop')
      ? bundle.mcpInside({ root }, machine)
      : bundle.mcp({ root, ...given({ database }) }, machine)
  },
}

function printConfig(context: Context, agent: string, scope: 'user' | 'project'): number {
  const place = Object.hasOwn(PLACES, agent) ? PLACES[agent] : undefined
  if (!place || !MCP_AGENTS.includes(agent))
    throw new RalphError(
      'usage',
      `"${agent}" takes no MCP server that ralph knows of. Choose from ${MCP_AGENTS.join(', ')}.`,
    )
  const site = siteOf(context, scope)
  const argv = [process.execPath, join(context.root, 'bin', 'ralph.cjs'), 'mcp']
  const server = { argv, env: envFor(site.home, site.person) }
  const { path, text } = printMcp(agent, { site, folder: place.folder(site), server })
  // What is not the text itself goes beside it, so that the text can be piped.
  context.err.write(`For ${place.title}, in ${path}:\n`)
  context.out.write(`${text}\n`)
  return 0
}
