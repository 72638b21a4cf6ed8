/** What `ralph serve` and `ralph mcp` load: everything that needs the libraries for web and MCP. */
export { mcp, mcpInside } from './mcp-stdio.ts'
export { serve } from './serve.ts'
