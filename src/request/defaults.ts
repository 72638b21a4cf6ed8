/** The defaults of loops, vaults and retention, in one table. */
import { claimTag } from '../engine/claim.ts'
import type { OwnerKind } from '../engine/loop.ts'

export const DEFAULTS = {
  /** Iterations of a loop or of a vault's task. */
  iterations: 10,
  /** The ceiling of an adaptive limit. */
  ceiling: 48,
  /** Minutes of a vault's task. Other loops have no time limit. */
  vaultMinutes: 30,
  noProgress: 3,
  sameError: 5,
  /** How long an open breaker waits before its one retry. Only the dispatcher is certain to be running by then. */
  cooldownMinutes: { person: 0, project: 0, vault: 0, session: 0, pane: 30, board: 0, fleet: 0 },
  /** How long to wait for an overloaded service. */
  overloadMinutes: 120,
  silenceMinutes: 10,
  /** How much of an agent's output per turn its transcript keeps. */
  transcriptMb: 500,
  checkMinutes: 10,
  /** How long the baseline may take; what is unknown by then counts as passed. */
  baselineMinutes: { person: 5, project: 5, vault: 5, session: 0.33, pane: 5, board: 5, fleet: 5 },
  permissions: 'bypass',
  context: 'fresh',
  /** Folders of a vault. */
  stateDir: 'Ralph_State',
  doneFolder: 'Done',
  checkIntervalSeconds: 5,
  /** How long a new file must be unchanged. */
  quietSeconds: 1.5,
  /** Days that transcripts and checkpoints are kept. */
  keepDays: 30,
} as const

/** The default promise. */
export const SIGNAL = 'TASK_COMPLETE'

/** How the agent of a loop claims to be done. Tasks of projects and vaults are claimed by files, not by words. */
export const CLAIMS: Readonly<Record<OwnerKind, { promise: string; signals: readonly string[] }>> = {
  person: { promise: 'COMPLETE', signals: [SIGNAL] },
  session: { promise: 'COMPLETE', signals: [SIGNAL] },
  pane: { promise: 'COMPLETE', signals: [SIGNAL, claimTag('DONE')] },
  board: { promise: 'COMPLETE', signals: [SIGNAL] },
  fleet: { promise: 'COMPLETE', signals: [SIGNAL] },
  project: { promise: '', signals: [] },
  vault: { promise: '', signals: [] },
}
