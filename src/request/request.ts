/** What somebody asks for, as plain data: from a flag, a task file, a list of tasks or a program. */
import type { Grade, Limits, Spec, Stage, Work } from '../engine/loop.ts'
import type { Config } from '../formats/config.ts'

export type LoopRequest = {
  prompt: string
  promise?: string
  /** In addition to those of every loop. */
  signals?: string[]
  /** `auto`: those found in the folder. */
  checks?: string[]
  /** The loop ends when this passes, with or without a claim. */
  until?: string
  stages?: Stage[]
  /** A single turn. */
  once?: boolean
  limits?: Partial<Omit<Limits, 'iterations' | 'ceiling' | 'onLimit'>> & {
    iterations?: Iterations
    /** What the loop does at a rate limit. */
    onLimit?: OnLimit
  }
  /** In the order in which they take over. */
  agents?: string[]
  agentArgs?: string[]
  /** Agents that take the iterations in turn. */
  chain?: string[][]
  model?: string
  /** The kind of work, in any words: feature, bug, docs. */
  type?: string
  permissions?: Work['permissions']
  context?: Work['context']
  sandbox?: boolean | 'strict'
  /** Services that are reachable from inside. */
  sandboxAllow?: string[]
  /** The agent gets tools to report with. */
  mcp?: boolean
  silenceMinutes?: number
  checkMinutes?: number
  /** 0: no baseline. */
  baselineMinutes?: number
  /** Which experiments run. */
  proof?: 'full' | NonNullable<Spec['proof']>
  /** A claim with a weaker proof is refused. */
  require?: Grade
  protect?: string[]
  mayChange?: string[]
  proofMinutes?: number
  proofSetup?: string
  onHalt?: 'keep' | NonNullable<Spec['onHalt']>
}

/** What applies to every task of a project or a vault, in addition to what the task itself says. */
export type CrewRequest = Omit<
  LoopRequest,
  'prompt' | 'promise' | 'signals' | 'until' | 'stages' | 'onHalt' | 'agents'
> & {
  /** As users name it, comma-separated if several. */
  agent?: string
  /** How many tasks run at a time. */
  slots: number
}

/** A number, 0 for no limit, or an estimate by task size that may grow up to a ceiling. */
export type Iterations = number | { ceiling: number }

export type OnLimit = 'wait' | NonNullable<Limits['onLimit']>

/** Where the request comes from. */
export type Place = Pick<Work, 'dir' | 'gitDir' | 'worktree' | 'owner' | 'faces'> & {
  env: Readonly<Record<string, string | undefined>>
  config: Config
  /** Iterations of earlier loops, for an estimate. */
  history?: () => Promise<number[]>
}
