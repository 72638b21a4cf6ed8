/** What ralph offers the agent inside a loop, with the pass of its turn. */
import { callInside } from '../../operations/call.ts'
import { INSIDE, type InsideName } from '../../operations/inside.ts'
import { INSIDE_SCHEMAS } from '../../operations/inside-schemas.ts'
import type { Context } from '../../operations/operation.ts'
import type { Offer } from './mcp.ts'
import { versionOf } from './mcp-offer.ts'
import { inputSchema, outputSchema } from './mcp-schema.ts'
import { faceOf, type McpTool } from './mcp-tool.ts'

const INSTRUCTIONS = `You work in one turn of a ralph loop. These tools report to it: your claim starts ralph's own checks and ends nothing by itself. \
Use report_stage when something is really done, ask_human or report_blocked when only a person can help.`

export function loopOffer({ root }: Pick<Context, 'root'>): Offer {
  const names = Object.keys(INSIDE) as InsideName[] // whose keys these are
  return { tools: names.map(insideTool), instructions: INSTRUCTIONS, version: versionOf(root) }
}

function insideTool(name: InsideName): McpTool {
  const { input, output } = INSIDE_SCHEMAS[name]
  return {
    ...faceOf(INSIDE[name]),
    inputSchema: inputSchema(input.toJSONSchema()),
    outputSchema: outputSchema(output.toJSONSchema()),
    run: (context, given) => callInside(context, name, given),
  }
}
