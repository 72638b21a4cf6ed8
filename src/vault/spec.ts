/** What the loop of a vault's task is asked for. */
import type { Limits, Loop, Spec, Turn, VaultTask, Work } from '../engine/loop.ts'
import type { TaskHead } from '../formats/task-file.ts'
import { PENDING } from '../host/vault.ts'
import { buildVaultPrompt } from '../prompt/vault-prompt.ts'
import type { VaultDesk } from './desk.ts'
import type { TaskFile } from './place.ts'

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

export type Crew = {
  work: Partial<Work>
  agents?: string[]
  /** Checks of every task, besides its own. */
  checks?: string[]
  limits: Pick<Limits, 'noProgress' | 'sameError' | 'costUsd'>
}

type Asked = { file: TaskFile; head: TaskHead; body: string }

// Whoever calls the API sees what happens itself: there only count and clock end a task.
export const NEVER = 1_000_000_000

export function specOf({ vault, settings }: VaultDesk, starting: Starting, { file, head, body }: Asked): Spec {
  const { by, crew, maxIterations = head.maxIterations, timeoutMinutes = head.timeoutMinutes } = starting
  const hired = crew?.(head) ?? { work: {}, limits: { noProgress: NEVER, sameError: NEVER } }
  const { work, agents, checks = [], limits } = hired
  const done = `${settings.doneFolder}/${file.file}`
  return {
    prompt: buildVaultPrompt({ body, from: file.from, done, pending: `${PENDING}/${file.file}` }),
    promise: '',
    signals: [],
    until: false,
    stages: [],
    checks: [...new Set([...(head.checks ?? []), ...checks])],
    limits: {
      iterations: maxIterations ?? settings.maxIterations,
      minutes: timeoutMinutes ?? settings.timeoutMinutes,
      ...limits,
      ...(head.maxCostUsd === undefined ? {} : { costUsd: head.maxCostUsd }),
    },
    ...(agents && agents.length > 1 ? { agents } : {}),
    work: {
      agent: CALLER,
      agentArgs: [],
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      checkMinutes: 10,
      ...work,
      dir: vault,
      vault: {
        path: vault,
        id: file.id,
        file: file.file,
        from: file.from,
        by,
        done: settings.doneFolder,
        state: settings.stateDir,
        ...(file.others.length > 0 ? { others: file.others } : {}),
      },
    },
  }
}

/** The name of the agent where ralph does not know who works. */
export const CALLER = 'caller'

/** The task of a loop that has one. */
export function vaultOf({ id, spec }: Loop): VaultTask {
  if (!spec.work.vault) throw new Error(`Loop ${id} is no task of a vault.`)
  return spec.work.vault
}

/** A turn that somebody tells of, instead of ralph having seen it. */
export function toldTurn(told: NonNullable<Turn['told']>): Turn {
  return { end: 'ok', claim: { kind: 'none' }, words: told.action, ranTests: false, tokens: 0, told }
}
