/** One of the person's own agents of Pi, as arguments for the processes that take its part. */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { readText } from '../host/config.ts'

export function subagentArgs(name: string, dir: string, env: Readonly<Record<string, string | undefined>>): string[] {
  const folders = [
    join(dir, '.pi', 'agents'),
    join(env.PI_CODING_AGENT_DIR || join(env.HOME || homedir(), '.pi', 'agent'), 'agents'),
  ]
  const path = folders.map((folder) => join(folder, `${name}.md`)).find(existsSync)
  if (path === undefined)
    throw new RalphError('usage', `There is no agent "${name}". Expected ${name}.md in ${folders.join(' or ')}.`)
  const text = readText(path, 'agent')
  const [, head = '', body = text] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? []
  const field = (key: string) => new RegExp(`^${key}:\\s*(["']?)(.+?)\\1\\s*$`, 'm').exec(head)?.[2]
  const [model, tools] = [field('model'), field('tools')]
  return [
    ...(model ? ['--model', model] : []),
    ...(tools ? ['--tools', tools.replace(/\s*,\s*/g, ',')] : []),
    ...(body.trim() ? ['--append-system-prompt', body.trim()] : []),
  ]
}
