/** The input of analytics: one row per loop, and sums over iterations and checks. */
import type { FindingKind, Grade, HaltReason, OwnerKind, Size, Status, Usage } from '../engine/loop.ts'

export type LoopNumbers = {
  id: string
  dir: string
  agent: string
  owner: OwnerKind
  type?: string
  size?: Size
  status: Status
  reason?: HaltReason
  proof?: Grade
  iterations: number
  iterationLimit: number
  falseClaims: number
  /** Claims refused because only changed tests made the checks pass. */
  bent: number
  /** Findings about the means of proof at the end. */
  findings: number
  tokens: number
  costUsd: number
  startedAt: number
  updatedAt: number
}

/** `usage`: as far as agents report it. `checks`: those that fail most, without the baseline. */
export type Sums = {
  usage: Usage
  checks: { check: string; runs: number; failures: number }[]
  findings: { kind: FindingKind; loops: number }[]
}

/** Whether it ended by itself. A cancelled loop says nothing about how it would have ended. */
export function isFinished({ status }: Pick<LoopNumbers, 'status'>): boolean {
  return status === 'completed' || status === 'halted'
}

export function isCompleted({ status }: Pick<LoopNumbers, 'status'>): boolean {
  return status === 'completed'
}
