/** The spec of a vault task's loop. */
import type { Spec, Turn } from '../engine/loop.ts'
import { taskCommand } from '../formats/task-command.ts'
import type { TaskHead } from '../formats/task-file.ts'
import { readSteps } from '../formats/task-steps.ts'
import { buildVaultPrompt, type VaultWords } from '../prompt/vault-prompt.ts'
import type { LoopRequest } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import type { VaultDesk } from './desk.ts'
import type { TaskFile } from './place.ts'
import { placeOf, type VaultTask } from './vault-task.ts'
import { PENDING } from './where.ts'

export type Starting = {
  /** The path of its file, and the base for paths that are not found in the vault. */
  file: string
  base?: string
  maxIterations?: number
  timeoutMinutes?: number
  by: VaultTask['by']
  /** The Claude Code session it is started in. */
  session?: string
  /** Its agents, if ralph itself runs them. */
  crew?: (head: TaskHead) => Crew
}

/** Which agents work on it, and how. */
export type Crew = Omit<LoopRequest, 'prompt' | 'promise' | 'signals' | 'until' | 'stages' | 'onHalt'>

type Asked = { file: TaskFile; head: TaskHead; body: string }

// API callers see for themselves what happens: only count and clock end their tasks.
export const NEVER = 1_000_000_000

export async function specOf(
  { vault, settings }: VaultDesk,
  starting: Starting,
  { file, head, body }: Asked,
): Promise<Spec> {
  const { by, crew, maxIterations = head.maxIterations, timeoutMinutes = head.timeoutMinutes } = starting
  const hired: Crew = crew?.(head) ?? {
    agents: [CALLER],
    baselineMinutes: 0,
    limits: { noProgress: NEVER, sameError: NEVER },
  }
  const done = `${settings.doneFolder}/${file.file}`
  const request: LoopRequest = {
    ...hired,
    prompt: buildVaultPrompt({
      ...{ body, from: file.from, done, pending: `${PENDING}/${file.file}` },
      ...progressFor(file.id, body, { by, sandbox: hired.sandbox }),
    }),
    checks: [...(head.checks ?? []), ...(hired.checks ?? [])],
    ...(head.require === undefined ? {} : { require: head.require }),
    protect: [...(hired.protect ?? []), ...(head.protect ?? [])],
    mayChange: [...(hired.mayChange ?? []), ...(head.mayChange ?? [])],
    limits: {
      iterations: maxIterations ?? settings.maxIterations,
      minutes: timeoutMinutes ?? settings.timeoutMinutes,
      ...hired.limits,
      ...(head.maxCostUsd === undefined ? {} : { costUsd: head.maxCostUsd }),
    },
  }
  const task = placeOf({
    kind: 'vault',
    path: vault,
    id: file.id,
    file: file.file,
    from: file.from,
    by,
    done: settings.doneFolder,
    state: settings.stateDir,
    ...(file.others.length > 0 ? { others: file.others } : {}),
  })
  // The environment and the rest of the config were applied when the vault's settings were resolved.
  return resolveSpec(request, { ...task, env: {}, config: settings.proof ?? {} })
}

/** A watcher reads checkboxes; in a sandbox no agent can reach ralph's home. */
function progressFor(
  id: string,
  body: string,
  { by, sandbox }: { by: VaultTask['by']; sandbox: Crew['sandbox'] },
): Pick<VaultWords, 'progress'> {
  if (by === 'watch' && readSteps(body)) return { progress: { by: 'boxes' } }
  if (sandbox) return {}
  const line = taskCommand('progress', id, undefined, '--total', 'N', '--completed', 'N', '--step', '…')
  return { progress: { by: 'command', line } }
}

/** The agent's name if ralph does not know it. */
const CALLER = 'caller'

/** A turn that a caller reports, not one that ralph saw. */
export function reportedTurn(told: NonNullable<Turn['told']>): Turn {
  return { end: 'ok', claim: { kind: 'none' }, words: told.action, ranTests: false, tokens: 0, told }
}
