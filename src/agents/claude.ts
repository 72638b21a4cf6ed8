/**
 * Claude Code: headless, one `claude -p` per turn, read from its stream of JSON lines; interactive with a Stop hook.
 */
import type { Agent, AgentEvent, Command, Exit, Outcome, Parser, Request, Usage } from './agent.ts'
import { claudeScreen, tellingClaude } from './claude-pane.ts'
import { deniedIn, nothingSeen, type Seen, takeAssistant, takeInit } from './claude-stream.ts'
import { exitedEarly, stoppedByRalph } from './ended.ts'
import { amount, type Json, objectOf, pushTo, text } from './json-line.ts'
import { MCP_NAME, mcpFile } from './mcp-config.ts'
import { readReset } from './reset.ts'
import { anthropicUsage, plus, sumOf } from './usage.ts'

export const claude: Agent = {
  name: 'claude',
  settings: ['model', 'permissions', 'context', 'mcp'],
  reports: ['tokens', 'cost'],
  bypass: '--dangerously-skip-permissions',
  grants: { setting: 'permissions.allow in .claude/settings.json, such as "Bash(npm test)"' },
  probe: {
    programs: ['claude'],
    install: '@anthropic-ai/claude-code',
    versionArgs: ['--version'],
    tested: '2.1.325',
    login: {
      folder: '~/.claude',
      files: ['~/.claude/.credentials.json'],
      variables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
    },
  },
  own: { paths: ['~/.claude', '~/.claude.json'], variables: ['CLAUDE_CONFIG_DIR'] },
  graceMs: 5_000,
  command,
  parser: (request) => streamParser(request),
  turnEnd: (file) => ({
    args: ['--settings', JSON.stringify({ hooks: { Stop: [{ hooks: [ON_STOP] }] } })],
    env: { RALPH_TURN_END: file },
  }),
  pane: tellingClaude,
  screen: claudeScreen,
}

// The path is in the environment, so that no shell parses it. A hook's output may be taken for an answer.
const ON_STOP = { type: 'command', command: 'touch "$RALPH_TURN_END" >/dev/null 2>&1', timeout: 10 }

function command(request: Request): Command {
  const { prompt, mode, model, resume, permissions, sandbox, extraArgs, target } = request
  const server = mcpFile(request, { type: 'stdio', alwaysLoad: true })
  const flags = [
    // With an equals sign each takes one value, not everything that follows.
    ...(server ? [`--mcp-config=${server.path}`, `--allowedTools=mcp__${MCP_NAME}`] : []),
    ...(permissions === 'bypass' ? ['--dangerously-skip-permissions'] : []),
    ...(model ? ['--model', model] : []),
    ...(resume ? ['--resume', resume.id] : []),
    ...extraArgs,
  ]
  const program = target || 'claude'
  // Root may skip permissions only if Claude Code believes it is in a sandbox.
  const env: Record<string, string> = sandbox ? { IS_SANDBOX: '1' } : {}
  if (mode === 'interactive') return { argv: [program, ...flags, ...(prompt ? ['--', prompt] : [])], env, stdin: '' }
  const argv = [program, '--print', '--output-format', 'stream-json', '--verbose', ...flags]
  return { argv, env, stdin: prompt, ...(server ? { files: [server] } : {}) }
}

function streamParser(request: Request): Parser {
  const seen = nothingSeen()
  return { push: pushTo(seen, (event) => take(event, seen)), end: (exit) => sumUp(seen, exit, request) }
}

function take(event: Json, seen: Seen): AgentEvent[] {
  switch (event.type) {
    case 'system':
      return takeSystem(event, seen)
    case 'assistant':
      return takeAssistant(event, seen, 'Bash')
    case 'rate_limit_event':
      return takeLimit(event, seen)
    case 'result': {
      // A background task that ends produces another result; the last one counts for the whole turn, each counts its
      // own tokens.
      const usage = usageOf(event)
      seen.result = event
      seen.tokens += sumOf(usage)
      seen.usage = plus(seen.usage, usage)
      seen.session = text(event.session_id) ?? seen.session
      return [{ kind: 'usage', usage }]
    }
    default:
      return []
  }
}

function takeSystem(event: Json, seen: Seen): AgentEvent[] {
  if (event.subtype === 'init') return takeInit(event, seen)
  if (event.subtype === 'api_retry')
    return [{ kind: 'retry', why: text(event.error) ?? `status ${event.error_status}` }]
  if (event.subtype === 'permission_denied')
    return [{ kind: 'warning', message: `denied: ${text(event.tool_name) ?? 'a tool'}` }]
  return []
}

function takeLimit(event: Json, seen: Seen): AgentEvent[] {
  const { status, resetsAt } = objectOf(event.rate_limit_info)
  if (status !== 'rejected' || typeof resetsAt !== 'number') return []
  seen.resetsAt = resetsAt * 1_000
  return [{ kind: 'warning', message: `rate-limited until ${new Date(seen.resetsAt).toISOString()}` }]
}

function sumUp(seen: Seen, exit: Exit, { at, resume }: Request): Outcome {
  const { result } = seen
  const total = typeof result?.total_cost_usd === 'number' ? result.total_cost_usd : undefined
  const base = {
    finalText: text(result?.result) || seen.words,
    denied: deniedIn(result),
    ran: seen.ran,
    tokens: seen.tokens,
    ...(seen.usage ? { usage: seen.usage } : {}),
    calls: seen.calls.size,
    ...(seen.session ? { session: { id: seen.session, costUsd: total ?? resume?.costUsd ?? 0 } } : {}),
    // In a resumed session, Claude Code counts the cost from the session's start.
    ...(total === undefined ? {} : { costUsd: Math.max(0, total - (resume?.costUsd ?? 0)) }),
  }
  const stopped = stoppedByRalph(exit)
  if (stopped) return { ...base, ...stopped }
  const complaint = complaintIn(seen.stderr.join('\n'))
  if (exit.code !== 0 && complaint) return { ...base, ...complaint }
  if (!result) return { ...base, ...exitedEarly(exit, seen.stderr.at(-1)) }
  if (result.is_error !== true && exit.code === 0)
    return isUnasked(result, seen) ? { ...base, kind: 'config', message: unasked(result) } : { ...base, kind: 'ok' }
  if (CUT_BY_OWN_LIMIT.has(String(result.subtype))) return { ...base, finalText: '', kind: 'ok' }
  const message = text(result.result) ?? seen.stderr.at(-1) ?? `it exited with code ${exit.code}`
  const kind = errorKind(result, seen.error)
  const resetsAt = seen.resetsAt ?? readReset(message, at)
  return { ...base, kind, message, ...(kind === 'rate-limit' && resetsAt !== undefined ? { resetsAt } : {}) }
}

/** Nothing reached the model: a hook of the user's blocked the prompt, or it was a command of the client. */
function isUnasked({ num_turns: turns }: Json, { calls, tokens }: Seen): boolean {
  return turns === 0 && calls.size === 0 && tokens === 0
}

function unasked({ result }: Json): string {
  return ['Claude Code did not pass the prompt on to its model', text(result)].filter(Boolean).join(': ')
}

// `--max-turns` and `--max-budget-usd` among the agent's arguments: it worked, and the user wanted it to stop there.
const CUT_BY_OWN_LIMIT = new Set(['error_max_turns', 'error_max_budget_usd'])

// `subtype` says "success" for nearly everything, so the other fields decide, the most reliable first.
function errorKind(result: Json, error: string): Outcome['kind'] {
  const status = typeof result.api_error_status === 'number' ? result.api_error_status : undefined
  if (result.terminal_reason === 'prompt_too_long') return 'context'
  if (error === 'rate_limit' || status === 429) return 'rate-limit'
  if (error === 'authentication_failed' || error === 'billing_error' || status === 401 || status === 403) return 'auth'
  if (error === 'model_not_found' || status === 404) return 'config'
  if (error === 'server_error' || error === 'overloaded' || (status !== undefined && status >= 500)) return 'overloaded'
  if (error === 'max_output_tokens') return 'unknown'
  if (error === 'invalid_request') return 'refused'
  if (String(result.terminal_reason).startsWith('aborted')) return 'killed'
  return result.terminal_reason === 'api_error' ? 'overloaded' : 'unknown' // the remaining API errors are network errors
}

/** What it prints on stderr if it does not even start. */
function complaintIn(said: string): { kind: Outcome['kind']; message: string } | undefined {
  if (/cannot be used with root/i.test(said)) return { kind: 'config', message: AS_ROOT }
  if (/no conversation found/i.test(said)) return { kind: 'context', message: said }
  const wrong = /^.*(unknown option|invalid (option|argument)|not logged in|invalid api key).*$/im.exec(said)
  return wrong ? { kind: 'config', message: wrong[0] } : undefined
}

const AS_ROOT =
  'Claude Code refuses to skip permissions for root. Run ralph as another user, use --permissions ask, or set IS_SANDBOX=1 if this machine is a sandbox.'

function usageOf(result: Json): Usage {
  // The numbers by model are complete; `usage` leaves out what came before a budget ran out.
  const models = Object.values(objectOf(result.model_usage_since_last_result)).map(objectOf)
  const sum = (name: string) => models.reduce((all, model) => all + amount(model[name]), 0)
  return {
    ...(models.length > 0
      ? {
          input: sum('inputTokens') + sum('cacheCreationInputTokens'),
          output: sum('outputTokens'),
          cached: sum('cacheReadInputTokens'),
        }
      : anthropicUsage(objectOf(result.usage))),
    scope: 'step',
    ...(typeof result.total_cost_usd === 'number' ? { costUsd: result.total_cost_usd } : {}),
  }
}
