/** The one error class for what a person can fix. Everything else that is thrown is a bug of ours. */

export type ErrorCode =
  | 'usage'
  | 'input-invalid'
  | 'agent-missing'
  | 'agent-unknown'
  | 'agent-unusable'
  | 'loop-unknown'
  | 'loop-held'
  | 'loop-ended'
  | 'lease-lost'
  | 'below-turn'
  | 'home-unusable'
  | 'disk-full'
  | 'database-newer'
  | 'database-broken'
  | 'checkpoint-missing'
  | 'git-failed'
  | 'setup-failed'
  | 'sandbox-missing'
  | 'tmux-missing'
  | 'tmux-failed'
  | 'pane-unknown'
  | 'dispatch-held'
  | 'project-unknown'
  | 'project-held'
  | 'tasks-invalid'
  | 'template-invalid'
  | 'interview-failed'
  | 'file-unusable'
  | 'declined'
  | 'task-unknown'
  | 'task-state'
  | 'task-limit'
  | 'task-timeout'
  | 'state-corrupted'
  | 'state-file'

/** The message says what and where, what was expected and found, and what to do. */
export class RalphError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RalphError'
    this.code = code
  }
}

/** For what may come from another bundle of the hook program: each of them has a class of that name. */
export function isRalphError(cause: unknown): cause is RalphError {
  return cause instanceof RalphError || (cause instanceof Error && cause.name === 'RalphError')
}
