/** What the loop of a vault's task is asked for. */
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
  /** The path of its file, and where that begins if it is not found in the vault. */
  file: string
  base?: string
  maxIterations?: number
  timeoutMinutes?: number
  by: VaultTask['by']
  /** The session of Claude Code it is started in. */
  session?: string
  /** Who works on it, where ralph itself sets an agent to work. */
  crew?: (head: TaskHead) => Crew
}

/** Who works on it and how: what ralph's own agent is told besides the task. */
export type Crew = Omit<LoopRequest, 'prompt' | 'promise' | 'signals' | 'until' | 'stages' | 'onHalt'>

type Asked = { file: TaskFile; head: TaskHead; body: string }

// Whoever calls the API sees what happens itself: there only count and clock end a task.
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
  // The environment and the rest of the config were heard when the settings of the vault were resolved.
  return resolveSpec(request, { ...task, env: {}, config: settings.proof ?? {} })
}

/** A watcher reads check boxes; in a sandbox no agent can reach ralph's home. */
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

/** The name of the agent where ralph does not know who works. */
const CALLER = 'caller'

/** A turn that somebody tells of, instead of ralph having seen it. */
export function toldTurn(told: NonNullable<Turn['told']>): Turn {
  return { end: 'ok', claim: { kind: 'none' }, words: told.action, ranTests: false, tokens: 0, told }
}
