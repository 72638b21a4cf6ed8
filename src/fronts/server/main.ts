/** Loaded by `ralph serve` and `ralph mcp`: everything that needs the web and MCP libraries. */
export { mcp, mcpInside } from './mcp-stdio.ts'
export { serve } from './serve.ts'
