/** Pi agents that run as a loop's processes: the user's own, or the repository's once they are trusted. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { agentMark, isTrustedAgent, trustAgent } from '../host/agent-trust.ts'
import { readText } from '../host/config.ts'

/** `trusts`: the mark of a text that the user has just agreed to. */
export type Asking = {
  dir: string
  home: string
  env: Readonly<Record<string, string | undefined>>
  trusts?: string | undefined
}

/** `mark` identifies this text at this path. */
export type Untrusted = { name: string; path: string; text: string; mark: string }

/** The arguments of each agent, in order. */
export function subagentArgs(
  names: readonly string[],
  asking: Asking,
): { args: string[][] } | { untrusted: Untrusted } {
  const found = names.map((name) => findAgent(name, asking))
  const untrusted = found.find((agent) => agent.isForeign && !mayBeUsed(agent, asking))
  if (untrusted) return { untrusted: { ...untrusted, mark: agentMark(untrusted.path, untrusted.text) } }
  return { args: found.map(({ text }) => argsOf(text)) }
}

type Found = { name: string; path: string; text: string; isForeign: boolean }

function findAgent(name: string, { dir, env }: Asking): Found {
  const theirs = join(dir, '.pi', 'agents')
  const own = join(env.PI_CODING_AGENT_DIR || join(env.HOME || homedir(), '.pi', 'agent'), 'agents')
  const path = [theirs, own].map((folder) => join(folder, `${name}.md`)).find(existsSync)
  if (path === undefined)
    throw new RalphError('usage', `No such agent: "${name}". Expected ${name}.md in ${theirs} or ${own}.`)
  return { name, path, text: readText(path, 'agent'), isForeign: path.startsWith(`${theirs}/`) }
}

function mayBeUsed({ path, text }: Found, { home, trusts }: Asking): boolean {
  if (trusts === agentMark(path, text)) trustAgent(home, path, text)
  return isTrustedAgent(home, path, text)
}

function argsOf(text: string): string[] {
  const [, head = '', body = text] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? []
  const field = (key: string) => new RegExp(`^${key}:\\s*(["']?)(.+?)\\1\\s*$`, 'm').exec(head)?.[2]
  const [model, tools] = [field('model'), field('tools')]
  return [
    ...(model ? ['--model', model] : []),
    ...(tools ? ['--tools', tools.replace(/\s*,\s*/g, ',')] : []),
    ...(body.trim() ? ['--append-system-prompt', body.trim()] : []),
  ]
}
