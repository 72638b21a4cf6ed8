/** What somebody asks for, as plain data: what a flag, a task file, a list of tasks or a program says. */
import type { Grade, Limits, Spec, Stage, Work } from '../engine/loop.ts'
import type { Config } from '../formats/config.ts'

export type LoopRequest = {
  prompt: string
  promise?: string
  /** Besides the ones that every loop has. */
  signals?: string[]
  /** `auto` stands for those that the folder brings along. */
  checks?: string[]
  /** The loop ends when this passes, claim or not. */
  until?: string
  stages?: Stage[]
  /** One turn is all there is to it. */
  once?: boolean
  limits?: Partial<Omit<Limits, 'iterations' | 'ceiling' | 'onLimit'>> & {
    iterations?: Iterations
    /** What becomes of the loop at a rate limit. */
    onLimit?: OnLimit
  }
  /** In the order in which they take over. */
  agents?: string[]
  agentArgs?: string[]
  /** Arguments of agents that take the iterations in turn. */
  chain?: string[][]
  model?: string
  /** What kind of work it is, in whatever words: feature, bug, docs. */
  type?: string
  permissions?: Work['permissions']
  context?: Work['context']
  sandbox?: boolean | 'strict'
  /** Services that can be reached from inside. */
  sandboxAllow?: string[]
  /** The agent gets tools to report with. */
  mcp?: boolean
  silenceMinutes?: number
  checkMinutes?: number
  /** 0: the checks are not run before the work. */
  baselineMinutes?: number
  /** Which experiments are run. */
  proof?: 'full' | NonNullable<Spec['proof']>
  /** A claim with a weaker proof is refused. */
  require?: Grade
  protect?: string[]
  mayChange?: string[]
  proofMinutes?: number
  proofSetup?: string
  onHalt?: 'keep' | NonNullable<Spec['onHalt']>
}

/** What is asked of every task of a project or a vault, besides what the task itself says. */
export type CrewRequest = Omit<
  LoopRequest,
  'prompt' | 'promise' | 'signals' | 'until' | 'stages' | 'onHalt' | 'agents'
> & {
  /** As people name it, several with commas. */
  agent?: string
  /** How many tasks at a time. */
  slots: number
}

/** A number, 0 for no limit, or a guess by the size of the task that may grow up to a ceiling. */
export type Iterations = number | { ceiling: number }

export type OnLimit = 'wait' | NonNullable<Limits['onLimit']>

/** Where it is asked for. */
export type Place = Pick<Work, 'dir' | 'gitDir' | 'worktree' | 'owner' | 'faces'> & {
  env: Readonly<Record<string, string | undefined>>
  config: Config
  /** Iterations that earlier loops took, for a guess. */
  history?: () => Promise<number[]>
}
