/** The one error class for what a user can fix. Anything else that is thrown is a bug in ralph. */

export type ErrorCode =
  | 'usage'
  | 'input-invalid'
  | 'agent-missing'
  | 'agent-unknown'
  | 'agent-unusable'
  | 'loop-unknown'
  | 'loop-held'
  | 'loop-ended'
  | 'loop-state'
  | 'comment-unknown'
  | 'lease-lost'
  | 'below-turn'
  | 'pass-invalid'
  | 'home-unusable'
  | 'disk-full'
  | 'machine-limit'
  | 'database-newer'
  | 'database-older'
  | 'database-unreachable'
  | 'database-refused'
  | 'database-broken'
  | 'database-locked'
  | 'database-missing'
  | 'checkpoint-missing'
  | 'git-failed'
  | 'setup-failed'
  | 'secret-missing'
  | 'sandbox-missing'
  | 'config-changed'
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
  | 'unconfirmed'
  | 'task-unknown'
  | 'task-state'
  | 'task-changed'
  | 'task-limit'
  | 'task-timeout'
  | 'state-corrupted'
  | 'state-file'
  | 'server-running'
  | 'port-taken'
  | 'server-unreachable'
  /** A worker of the fleet cannot continue a task now, but it or another one can later. */
  | 'handed-back'

/** The message says what and where, what was expected and found, and what to do. */
export class RalphError extends Error {
  readonly code: ErrorCode
  /** The input field concerned. */
  readonly field?: string

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { field?: string }) {
    super(message, options)
    this.name = 'RalphError'
    this.code = code
    if (options?.field) this.field = options.field
  }
}

/** For errors that may come from another bundle of the hook program: each has its own class of that name. */
export function isRalphError(cause: unknown): cause is RalphError {
  return cause instanceof RalphError || (cause instanceof Error && cause.name === 'RalphError')
}
