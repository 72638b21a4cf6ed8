/** What ralph offers a model that manages loops. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../../operations/operation.ts'
import type { Offer } from './mcp.ts'
import { allTools, fleetTools } from './mcp-tools.ts'

const INSTRUCTIONS = `ralph runs a coding agent in a loop on one task until checks prove it done. \
Start with get_context. Create a task or give start_loop a prompt, always with checks that fail now and pass when the work is done. \
start_loop returns at once: follow the loop with wait_loop. Answer a loop that needs input with steer_loop.`

export function wholeOffer({ root, database }: Pick<Context, 'root' | 'database'>): Offer {
  const tools = database ? [...allTools(), ...fleetTools()] : allTools()
  return { tools, instructions: INSTRUCTIONS, version: versionOf(root), resources: 'told' }
}

export function versionOf(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return version
}
