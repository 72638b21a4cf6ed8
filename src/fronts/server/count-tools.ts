/** What the list of tools costs a model, in tokens: about four characters of JSON each. */
import { listTools } from './mcp.ts'
import { allTools } from './mcp-tools.ts'

export function countTools(): { name: string; tokens: number }[] {
  return listTools(allTools()).map((tool) => ({ name: tool.name, tokens: Math.ceil(JSON.stringify(tool).length / 4) }))
}
