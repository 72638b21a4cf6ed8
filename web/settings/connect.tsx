/** How other programs connect to this server: commands to copy. */
import { Code } from '../parts/common.tsx'
import { Section } from './section.tsx'

export function Connect() {
  return (
    <Section
      title="API and MCP"
      words="Agents and scripts can do everything this page does. Anyone with the token can start agents on this machine."
    >
      <p>Let an agent manage ralph through MCP:</p>
      <Code>ralph install claude --mcp</Code>
      <p>Or print what to add to its settings yourself (codex, gemini, opencode, copilot, qwen, droid, cursor):</p>
      <Code>ralph mcp --print-config claude</Code>
      <p>
        MCP over HTTP is at <code>{location.origin}/mcp</code>, REST at <code>{location.origin}/api</code>, described by{' '}
        <a href="/openapi.json" target="_blank" rel="noopener">
          openapi.json
        </a>
        :
      </p>
      <Code>{`curl ${location.origin}/api/loops -H "Authorization: Bearer $(cat ~/.ralph/server-token)"`}</Code>
    </Section>
  )
}
