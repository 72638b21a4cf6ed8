/** The cost of the tool list in tokens: about four characters of JSON each. */
import { listTools } from './mcp.ts'
import type { McpTool } from './mcp-tool.ts'
import { allTools } from './mcp-tools.ts'

export function countTools(tools: readonly McpTool[] = allTools()): { name: string; tokens: number }[] {
  return listTools(tools).map((tool) => ({ name: tool.name, tokens: Math.ceil(JSON.stringify(tool).length / 4) }))
}
