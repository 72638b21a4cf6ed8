/** A person trusts configuration that a loop changed, or an agent that a repository contains. */
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { lookAtLeft } from '../drive/look-at-settings.ts'
import { RalphError } from '../error.ts'
import { trustAgent } from '../host/agent-trust.ts'
import { readText } from '../host/config.ts'
import { trustConfigs } from '../host/config-trust.ts'
import { refuseBelowTurn } from './below-turn.ts'
import type { Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** `paths`: what is trusted from now on; empty if nothing was doubted. */
export const trustConfig: Operation<{ dir?: string }, { dir: string; paths: string[] }> = {
  name: 'trust_config',
  effect: 'write',
  summary: 'Trusts configuration that a loop changed, so that the next loop in the folder uses it.',
  person: true,
  async run(context, { dir: asked }) {
    await refuseBelowTurn(context)
    const file = resolve(context.cwd, asked ?? '.')
    if (isFile(file)) return trustFile(context.home, realpathSync(file))
    const dir = workFolder(context, asked)
    await lookAtLeft(context.store(), context.home, dir)
    return { dir, paths: trustConfigs(context.home, dir) }
  },
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function trustFile(home: string, path: string): { dir: string; paths: string[] } {
  const folder = dirname(path)
  if (!path.endsWith('.md') || basename(folder) !== 'agents' || basename(dirname(folder)) !== '.pi')
    throw new RalphError(
      'usage',
      `${path} is neither a folder nor a repository agent (.pi/agents/NAME.md). Name one of these.`,
    )
  trustAgent(home, path, readText(path, 'agent'))
  return { dir: folder, paths: [path] }
}
