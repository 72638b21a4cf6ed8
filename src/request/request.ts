/** What somebody asks for, as plain data: what a flag, a task file, a list of tasks or a program says. */
import type { Limits, Spec, Stage, Work } from '../engine/loop.ts'
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
  limits?: Partial<Omit<Limits, 'iterations' | 'ceiling'>> & { iterations?: Iterations }
  /** In the order in which they take over. */
  agents?: string[]
  agentArgs?: string[]
  model?: string
  permissions?: Work['permissions']
  context?: Work['context']
  sandbox?: boolean
  silenceMinutes?: number
  checkMinutes?: number
  onHalt?: 'keep' | NonNullable<Spec['onHalt']>
}

/** A number, 0 for no limit, or a guess by the size of the task that may grow up to a ceiling. */
export type Iterations = number | { ceiling: number }

/** Where it is asked for. */
export type Place = Pick<Work, 'dir' | 'gitDir' | 'worktree' | 'owner' | 'faces'> & {
  env: Readonly<Record<string, string | undefined>>
  config: Config
  /** Iterations that earlier loops took, for a guess. */
  history?: () => Promise<number[]>
}
