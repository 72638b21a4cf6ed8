/**
 * What every store can do. SQLite implements it here; any other implementation must pass the same contract suite.
 *
 * Texts: what is stored as JSON (specs, facts, orders, records) is read back exactly, including NUL bytes and lone
 * surrogates. Texts in lists (`LoopRow`, `IterationRow`, the sender of an order) are well-formed: a lone surrogate becomes
 * U+FFFD.
 */
import type { Outcome } from '../agents/agent.ts'
import type { LoopNumbers, Sums } from '../analytics/numbers.ts'
import type {
  Ask,
  Claim,
  Diff,
  Fact,
  Finding,
  Loop,
  Next,
  Order,
  OwnerKind,
  Size,
  Status,
  Turn,
  Usage,
  Verdict,
} from '../engine/loop.ts'
import type { Report } from '../engine/report.ts'
import type { BoardGroup, BoardStatus, BoardTask } from '../formats/board-task.ts'
import type { FleetRecords } from './fleet-store.ts'
import type { TurnLog } from './transcript.ts'

/** What a driver of one loop needs from a store. */
export type LoopStore = {
  load(id: string): Promise<Loop>
  /**
   * The right to move a loop. Each lease has a higher epoch than the one before; only the newest can save.
   * `patienceMs`: how long the whole process may wait if somebody holds it.
   */
  lease(id: string, patienceMs?: number): Promise<Lease | Held>
  /** The loop, its event and its rows in one transaction; refused if the lease is not the newest. */
  save(lease: Lease, loop: Loop, fact: Fact): Promise<void>
  /** A fact as it may be stored: without secrets, and with marks in place of those that people gave. */
  sealed(fact: Fact): Fact
  /** The oldest order that has not been saved yet; a cancel goes before all others. */
  nextOrder(id: string): Promise<Fact | undefined>
  close(): Promise<void>
  transcripts: Pick<Transcripts, 'openTurn'>
}

export type Store = LoopStore & {
  /** `first`: what it receives before anything else. */
  create(loop: Loop, first?: readonly Telling[]): Promise<void>
  /** The id that a full id or a unique prefix of one stands for. */
  find(name: string): Promise<string>
  /** Newest first; within a millisecond, the one created last. */
  list(filter?: ListFilter): Promise<LoopPage>
  /** The newest loop that has worked in this very folder, not in its own worktree. */
  lastIn(dir: string): Promise<Loop | undefined>
  tell(id: string, by: string, order: Order): Promise<void>
  /** The loops with undelivered orders: any, or of this kind. */
  ordered(kind?: Order['kind']): Promise<string[]>
  /** Whether a living process drives this loop. */
  isDriven(id: string): Promise<boolean>
  /**
   * In portions; those of one loop all at once. A reader that resumes from the last `seq` misses none, in whatever
   * order their writers started.
   */
  events(after: number, loop?: string): Promise<StoredEvent[]>
  /** Those that count, in order; `span`: this many of those after one. */
  iterations(loop: string, span?: Span): Promise<IterationRow[]>
  /**
   * The last iterations of these loops, `most` of each, in order, without what was said in them. Unknown loops are left
   * out.
   */
  strips(loops: readonly string[], most: number): Promise<Strip[]>
  /** All loops and tasks at a glance. `since`: whose cost counts. */
  overview(since: number): Promise<Overview>
  /** Loops that may need a person, newest first; of those that stopped short, only the ones that did since then. */
  needing(since: number): Promise<NeedingLoop[]>
  /** Loops in the order in which they were created; in portions, as `events`. */
  newLoops(after: number): Promise<CreatedLoop[]>
  /** The last numbers of everything that readers resume from, all from the same moment. */
  heads(): Promise<Heads>
  /** The rows for analytics, newest first. */
  numbers(filter?: NumbersFilter): Promise<LoopNumbers[]>
  /** The totals of iterations and checks of the same loops. */
  sums(filter?: Omit<NumbersFilter, 'limit'>): Promise<Sums>
  /** Iterations of the completed loops, newest first: what an adaptive limit learns from. */
  history(): Promise<number[]>
  /**
   * How many other loops in this folder were running after `since`. One that only waits for a person does not count.
   */
  overlapping(loop: string, dir: string, since: number): Promise<number>
  /** Calls back when anything may have changed, even by another process. Returns a function that stops it. */
  onChange(listener: () => void): () => void
  /** What is wrong with the stored data, in the database's words; undefined if nothing is. */
  selfCheck(): Promise<string | undefined>
  projects: ProjectRecords
  tasks: TaskRecords
  panes: PaneRecords
  board: BoardRecords
  reports: ReportRecords
  comments: CommentRecords
  answers: AnswerRecords
  seen: SeenRecords
  transcripts: Transcripts
  /** Absent: whoever has this store also has the repositories of its loops. */
  diffs?: DiffRecords
  /** Absent: this store belongs to one machine. */
  fleet?: FleetRecords
  locks: Locks
  /** Several machines use it. Absent: it is the one of this home. */
  shared?: true
}

/** What only one process at a time may do with the stored data, by name. A lock is free once its process has ended. */
export type Locks = {
  open(name: string): NamedLock
  /** Whether a living process has it. */
  isHeld(name: string): Promise<boolean>
}

export type NamedLock = {
  /** Takes it if it is free. False: somebody else has it. */
  hold(): Promise<boolean>
  close(): Promise<void>
}

/** What ralph itself knows about the project whose files are in a folder. Only its holder writes it. */
export type ProjectRecords = {
  load(folder: string): Promise<unknown>
  save(folder: string, record: unknown): Promise<void>
  /** Another project starts there. */
  forget(folder: string): Promise<void>
}

/** The tasks of vaults. */
export type TaskRecords = {
  /**
   * Creates the loop of a task, or takes an existing one, unless an earlier one has not ended yet: then returns that
   * one's id.
   */
  begin(task: Pick<TaskKey, 'vault' | 'id'>, loop: Loop, record: TaskRecord): Promise<string | undefined>
  /** The newest loop of a task. */
  load(vault: string, id: string): Promise<TaskRow | undefined>
  list(vault?: string): Promise<TaskRow[]>
  /** Those that have not ended, or whose end was not handled, oldest first. */
  open(vault: string): Promise<TaskRow[]>
  /** Sets the named fields, including null, and leaves the rest. Does nothing if the task has a newer loop. */
  change(task: TaskKey, patch: TaskRecord): Promise<void>
  /** The same, but known values stay: if several know one, the first counts. */
  fill(task: TaskKey, patch: TaskRecord): Promise<void>
  forget(task: TaskKey): Promise<void>
  /** A vault that was moved takes its tasks along; their loops have received that before. */
  move(from: string, to: string): Promise<void>
}

/**
 * The agents that dispatchers keep in panes, their mail, and how they changed. A crew is the agents of one config file.
 */
export type PaneRecords = {
  list(crew?: string): Promise<PaneRow[]>
  /**
   * What is known about an agent from now on. `struck`: the mail that this has handled. `change`: what watchers see.
   * All of it at once.
   */
  save(pane: PaneKey, record: unknown, dealt?: { struck?: readonly number[]; change?: unknown }): Promise<void>
  /** With its mail. */
  forget(pane: PaneKey): Promise<void>
  /** Undefined if there is no such agent. A mail for the whole crew has no name. */
  post(pane: PaneKey, mail: Mail): Promise<number | undefined>
  /** Oldest first. */
  mail(crew: string): Promise<StoredMail[]>
  /** False if it is already deleted. */
  strike(mail: number): Promise<boolean>
  /**
   * Creates the loop of a task that was left for an agent, and strikes the task off; false if somebody dropped it
   * meanwhile.
   */
  begin(task: number, loop: Loop, pane: PaneKey, record: unknown): Promise<boolean>
  /** In portions, as `events`. */
  changes(after: number, crew?: string): Promise<PaneChange[]>
  /** Removes the changes from before then. */
  prune(before: number): Promise<void>
}

/** The tasks of the board, their groups, and how both changed. */
export type BoardRecords = {
  create(task: BoardTask): Promise<void>
  load(id: string): Promise<BoardTask | undefined>
  /** Newest first. */
  list(filter?: BoardFilter): Promise<BoardPage>
  /**
   * `task` carries the version that was read and is stored as the next one; undefined if somebody else has changed it
   * since. `mustHold`: throws if it conflicts with the other tasks at that moment.
   */
  save(task: BoardTask, mustHold?: (all: readonly BoardTask[]) => void): Promise<BoardTask | undefined>
  /** Creates the loop of a task, which names it from then on. Undefined as for `save`. */
  begin(task: BoardTask, loop: Loop, first?: readonly Telling[]): Promise<BoardTask | undefined>
  /** The queued loops of the board that wait for no other task, the highest priority first, then the oldest. */
  queue(): Promise<QueuedLoop[]>
  /** False if it has another version, or is deleted. `mustHold`: as for `save`. */
  remove(id: string, version: number, mustHold?: (all: readonly BoardTask[]) => void): Promise<boolean>
  groups(): Promise<BoardGroup[]>
  /** Omitted fields stay as they are. */
  saveGroup(group: Pick<BoardGroup, 'project_id'> & Partial<BoardGroup>): Promise<BoardGroup>
  /** In portions, as `events`. */
  changes(after: number): Promise<BoardChange[]>
  /** Removes the changes from before then. */
  prune(before: number): Promise<void>
}

/** Answers to requests that carry a key, so that repeating a request does nothing twice. Each is kept for a day. */
export type AnswerRecords = {
  /**
   * Whoever gets `new` answers the request, and ends or forgets it. `lost`: it was started before `since` and never
   * ended.
   */
  begin(key: string, input: string, since: number): Promise<KeyStanding>
  end(key: string, answer: string): Promise<void>
  forget(key: string): Promise<void>
}

export type KeyStanding =
  | { kind: 'new' | 'busy' | 'lost' }
  /** It was used with another input. */
  | { kind: 'reused' }
  | { kind: 'answered'; answer: string }

/** How far a person has seen what happened to a loop. */
export type SeenRecords = {
  /** They have seen it up to event `n`; this never decreases. Returns up to which they have seen it now. */
  mark(loop: string, n: number): Promise<number>
}

/** What agents report through MCP while they work, each with the pass of its turn. Only hashes of passes are stored. */
export type ReportRecords = {
  /** From now on this hash stands for this turn, and no earlier one for any turn of its loop. */
  issue(turn: TurnKey, hash: string): Promise<void>
  /** Undefined unless the loop is at exactly that turn. */
  turnOf(hash: string): Promise<TurnKey | undefined>
  /** False if the pass no longer counts. */
  add(hash: string, report: Report): Promise<boolean>
  /** In order. */
  of(turn: TurnKey): Promise<Report[]>
}

export type TurnKey = { loop: string; iteration: number; attempt: number }

/** An order, and its sender. */
export type SentOrder = { by: string; order: Order }

/** What a new loop receives: an order, or the comments that still wait at the loop whose work it continues. */
export type Telling = SentOrder | { commentsOf: string; tells: (waiting: readonly StoredComment[]) => SentOrder }

/** Comments of people on lines of a diff, and whether they have arrived. */
export type CommentRecords = {
  /**
   * `tells`: the order that delivers them to their loop, in the same transaction. Absent: they wait for a loop that
   * continues its work.
   */
  add(
    loop: string,
    comments: readonly Comment[],
    tells?: (added: readonly StoredComment[]) => SentOrder,
  ): Promise<StoredComment[]>
  /** Those about a loop, and those for it, oldest first. */
  list(loop: string): Promise<StoredComment[]>
  /**
   * `tells`: the order for its loop instead, with the other comments that came with it. False: its loop has received
   * it, or it is deleted.
   */
  remove(id: number, tells: (left: readonly StoredComment[]) => Order): Promise<boolean>
  /** The turn that delivers them has started. */
  deliver(ids: readonly number[], iteration: number): Promise<void>
}

/**
 * `line`: its number on that side of the diff, `quote`: its text. `against`: what the diff compares the iteration with.
 */
export type Comment = {
  iteration: number
  against: 'previous' | 'start'
  path: string
  line: number
  side: 'old' | 'new'
  quote: string
  text: string
}

/**
 * `loop`: whose diff it is about. `hearer`: the loop that receives it. `delivered`: the iteration of that loop which
 * did.
 */
export type StoredComment = Comment & {
  id: number
  loop: string
  at: number
  hearer: string
  delivered: number | null
}

/** `place`: the folder or repository that it works in directly; null: it has its own worktree. */
export type QueuedLoop = { loop: string; place: string | null }

/**
 * Absent: all. `text`: a part of title or description, ignoring the case of ASCII letters. `after`: the `next` of an
 * earlier page.
 */
export type BoardFilter = {
  status?: readonly BoardStatus[]
  project_id?: string
  archived?: boolean
  loop?: string
  text?: string
  limit?: number
  after?: string
}

export type BoardPage = { tasks: BoardTask[]; next?: string }

export type BoardChange = {
  seq: number
  at: number
  change:
    | { kind: 'task'; task: BoardTask }
    | { kind: 'task-removed'; id: string }
    | { kind: 'group'; group: BoardGroup }
}

export type PaneKey = { crew: string; name: string }

export type PaneRow = PaneKey & { record: unknown }

export type PaneChange = PaneKey & { seq: number; at: number; change: unknown }

/**
 * What the agent in a pane reports, and what people leave for it. `launch`: the start of its program that reports it.
 */
export type Mail = { launch?: number } /** It is ready for prompts. */ & (
  | { kind: 'started'; session?: string }
  /** It has another session now. */
  | { kind: 'session'; session: string }
  /** Somebody has given it a prompt. `turn`: its own name for the turn that starts. */
  | { kind: 'prompt'; words: string; turn?: string; session?: string }
  /** It has stopped. `background`: something that it started still runs, and it will continue. */
  | { kind: 'stop'; outcome: Outcome | 'aborted'; turn?: string; session?: string; background?: true }
  /** It asks for a permission, or for an answer. */
  | { kind: 'asks'; question: string }
  | { kind: 'answered' }
  /** Its program has ended. `closed`: its terminal was closed. */
  | { kind: 'ended'; code: number; closed?: true }
  | { kind: 'task'; prompt: string }
  /** A person has looked at it. */
  | { kind: 'seen' }
  /** A person wants one more agent, or one less. */
  | { kind: 'add'; agent: unknown }
  | { kind: 'remove' }
  /** A prompt that did not arrive is to be sent again. */
  | { kind: 'retry' }
)

export type StoredMail = PaneKey & { id: number; at: number; mail: Mail }

/**
 * What was said in turns. An agent's output must reach the disk as it comes, so writing is a local stream; reading is
 * not.
 */
export type Transcripts = {
  /** Appends what one attempt prints, as it comes. */
  openTurn(loop: string, iteration: number): TurnLog
  /**
   * The next bytes of an iteration's log. `next` is where to continue; it equals `from` if there is nothing more now.
   */
  read(loop: string, iteration: number, from: number): Promise<TurnBytes>
  /** How many bytes an iteration's log has now. */
  size(loop: string, iteration: number): Promise<number>
  /** Removes what was said in loops that ended and were not touched since; their facts stay. Returns how many files. */
  prune(ended: ReadonlySet<string>, olderThan: number): Promise<number>
}

/** What iterations changed in a repository on another machine. */
export type DiffRecords = {
  /** Replaces what was stored of this iteration before. Does nothing if the lease is not the newest. */
  keep(lease: Pick<Lease, 'loop' | 'epoch'>, kept: KeptState & Partial<Record<Against, KeptDiff>>): Promise<void>
  load(loop: string, iteration: number, against: Against): Promise<KeptDiff | undefined>
  /** In order. */
  states(loop: string): Promise<KeptState[]>
  /** As for transcripts. Returns how many iterations. */
  prune(ended: ReadonlySet<string>, olderThan: number): Promise<number>
}

/** What a diff compares an iteration with: the state before it, or before the loop. */
export type Against = 'previous' | 'start'

/**
 * The state after an iteration; 0 is the start. `commit`: the one on the branch of its task, with exactly the files of
 * `tree`. `head`: what was checked out.
 */
export type KeptState = { iteration: number; commit: string; tree: string; head?: string }

/** `from`: a commit with the files before. `left`: how many lines were not stored. */
export type KeptDiff = { from: string; text: string; left: number }

export type TurnBytes = { bytes: Uint8Array; next: number }

/**
 * `movedAt`: when the loop was last moved. `lost` fires once another has taken over: when a save is refused, or as soon
 * as a listener sees it.
 */
export type Lease = {
  loop: string
  epoch: number
  movedAt: number
  lost: AbortSignal
  release(): Promise<void>
  /**
   * Its holder promises to be back within this time: to move the loop, or to promise again. Otherwise it may be taken
   * over although it lives. Absent: a lease lives as long as its process.
   */
  expect?(ms: number): void
}

/** A living process holds the lease. */
export type Held = { heldBy: string }

/**
 * Absent: all. `text`: a part of the start of the prompt, ignoring the case of ASCII letters. `after`: the `next` of an
 * earlier page.
 */
export type ListFilter = {
  status?: readonly Status[]
  owner?: OwnerKind
  dir?: string
  text?: string
  limit?: number
  after?: string
}

/** `next` is set if more loops follow. */
export type LoopPage = { rows: LoopRow[]; next?: string }

export type LoopRow = {
  id: string
  dir: string
  agent: string
  /** Its start. */
  prompt: string
  owner: OwnerKind
  status: Status
  next: Next
  iteration: number
  iterationLimit: number
  falseClaims: number
  tokens: number
  costUsd: number
  startedAt: number
  updatedAt: number
}

export type StoredEvent = { seq: number; loop: string; n: number; at: number; fact: Fact; next: Next }

export type Span = { after: number; limit: number }

export type CreatedLoop = LoopRow & { seq: number }

export type Heads = { events: number; board: number; panes: number; loops: number }

export type IterationRow = {
  n: number
  attempts: number
  startedAt: number
  endedAt: number
  agent: string
  end: Turn['end']
  claim: Claim['kind']
  /** Of a weak claim. */
  form: Claim['form']
  /** The stage that it claims, if it does not claim the whole. */
  stage: string | undefined
  /** What it wanted from a person. */
  ask: Ask | undefined
  changed: boolean | undefined
  diff: Diff | undefined
  tokens: number
  usage: Usage | undefined
  costUsd: number | undefined
  words: string
  verdicts: Verdict[]
  /** The findings when its checks were run. */
  findings: Finding[]
  /** What its agent reported through MCP. */
  reports: Report[]
}

export type Strip = { loop: string; bars: Bar[] }

/**
 * An iteration in short. `crash`: its agent failed or could not be used; `none`: no check ran. `failures`: how many are
 * open. `refused`: its claim was judged, and not accepted. `worse`: more failures are open than after the previous
 * checks. `weakened`: means of proof were changed, deleted or skipped. `idle`: it changed nothing.
 */
export type Bar = {
  n: number
  ms: number
  result: 'pass' | 'fail' | 'none' | 'crash'
  failures?: number
  claimed?: true
  refused?: true
  worse?: true
  weakened?: true
  idle?: true
}

/** `tasks`: without archived ones. `folders`: those with the newest loops first. `costUsd`: of the iterations that ended since then. */
export type Overview = {
  byStatus: Partial<Record<Status, number>>
  tasks: Partial<Record<BoardStatus, number>>
  folders: { dir: string; loops: number }[]
  costUsd: number
}

/**
 * `asks`: it waits for a person. `stuck`: it halted, and no other loop continues its work. `review`: its work waits to
 * be accepted, and its task with it. `under-way`: it may have lost its driver. `n`: its last event. `seen`: the last
 * one that a person saw.
 */
export type NeedingLoop = {
  loop: string
  why: 'asks' | 'stuck' | 'review' | 'under-way'
  status: Status
  at: number
  n: number
  seen: number
}

/**
 * Absent: all. Times are those at which loops started. `project_id`: a group of the board. `ended`: those that
 * completed or halted.
 */
export type NumbersFilter = {
  since?: number
  /** Before it. */
  until?: number
  dir?: string
  agent?: string
  type?: string
  size?: Size
  owner?: OwnerKind
  project_id?: string
  ended?: true
  limit?: number
}

/** What is known about a vault's task besides its loop. */
export type TaskRecord = {
  progress?: { total: number; completed: number; step: string; at: number }
  exitReason?: string
  /** Identifies its file under another name. */
  inode?: string
  bornAt?: number
  /** An agent has been set to work on it. */
  begun?: true
  /** Where its file was put when it had failed; null: the file no longer existed. */
  away?: string | null
  /** A webhook was notified that its time is up. */
  told?: true
  /** What it changed in the vault, once it has ended; null: unknown. */
  files?: { created: number; modified: number } | null
}

export type TaskKey = { vault: string; id: string; loop: string }

/** `movedAt` and `events` belong to its loop: when it last moved, and how often. */
export type TaskRow = TaskKey & {
  record: TaskRecord
  movedAt: number
  events: number
}
