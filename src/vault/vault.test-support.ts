/** The base of the vault tests: a real vault in a temporary folder, with its own home and clock. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'
import { RalphError } from '../error.ts'
import type { TaskState, VaultStatus } from '../formats/task-state.ts'
import type { VaultOptions } from './contract.ts'
import type { Call } from './lifecycle.ts'
import { RalphWiggum } from './ralph-wiggum.ts'

export const START: number = Date.UTC(2026, 0, 15, 10)
export const MINUTE = 60_000

const opened: RalphWiggum[] = []
const folders: string[] = []

afterEach(async () => {
  for (const ralph of opened.splice(0)) await ralph.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

export type Vault = {
  path: string
  home: string
  clock: { now: number }
  notes: string[]
  ralph: RalphWiggum
  /** A second one on the same vault, or one with other settings. */
  open(options?: Partial<VaultOptions>): RalphWiggum
  put(file: string, text?: string): void
  move(from: string, to: string): void
  has(file: string): boolean
  names(folder: string): string[]
  read(file: string): string
  /** What the state file says. */
  written(id: string): TaskState
}

/** A vault with these task files in Needs_Action; `disk`: where it is, if that matters. */
export function openVault(
  files: readonly string[] = ['a.md'],
  options: Partial<VaultOptions> = {},
  disk?: string,
): Vault {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-vault-')))
  folders.push(root)
  const [path, home] = [join(disk ?? root, 'vault'), join(root, 'home')]
  const clock = { now: START }
  const notes: string[] = []
  const open = (more: Partial<VaultOptions> = {}) => {
    const about = { home, env: {}, now: () => clock.now, onNote: (text: string) => void notes.push(text) }
    const ralph = new RalphWiggum({ vaultPath: path, ...about, ...options, ...more })
    opened.push(ralph)
    return ralph
  }
  const put = (file: string, text = 'Do it.\n') => {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), text)
  }
  mkdirSync(join(path, 'Needs_Action'), { recursive: true })
  for (const file of files) put(`Needs_Action/${file}`)
  const read = (file: string) => readFileSync(join(path, file), 'utf8')
  return {
    path,
    home,
    clock,
    notes,
    open,
    put,
    read,
    ralph: open(),
    move(from, to) {
      mkdirSync(dirname(join(path, to)), { recursive: true })
      renameSync(join(path, from), join(path, to))
    },
    has: (file) => existsSync(join(path, file)),
    names: (folder) => readdirSync(join(path, folder)).toSorted(),
    written: (id) => JSON.parse(read(`Ralph_State/${id}.json`)),
  }
}

/** The report of one iteration of a task. */
export function work(task_id: string): { task_id: string; action: string; result: string; duration_seconds: number } {
  return { task_id, action: 'Draft proposal outline', result: 'success', duration_seconds: 60 }
}

/** Brings a new task into each state. */
export const INTO: Readonly<Record<VaultStatus, (vault: Vault, id: string) => Promise<unknown>>> = {
  initializing: ({ ralph }, id) => ralph.startTask({ task_file: `Needs_Action/${id}.md`, max_iterations: 2 }),
  async in_progress(vault, id) {
    await INTO.initializing(vault, id)
    await vault.ralph.incrementIteration(work(id))
  },
  async waiting_approval(vault, id) {
    await INTO.initializing(vault, id)
    vault.move(`Needs_Action/${id}.md`, `Pending_Approval/${id}.md`)
    await vault.ralph.incrementIteration(work(id))
  },
  async completed(vault, id) {
    await INTO.initializing(vault, id)
    vault.move(`Needs_Action/${id}.md`, `Done/${id}.md`)
    await vault.ralph.incrementIteration(work(id))
  },
  async failed(vault, id) {
    await INTO.waiting_approval(vault, id)
    await vault.ralph.rejectTask(id)
  },
  async timeout(vault, id) {
    await INTO.in_progress(vault, id)
    await vault.ralph.handleTimeout(id)
  },
  async max_iterations_reached(vault, id) {
    await INTO.in_progress(vault, id)
    await vault.ralph.incrementIteration(work(id))
  },
}

/** Each call with an input that is right. */
export const CALL: Readonly<Record<Call, (ralph: RalphWiggum, id: string) => Promise<unknown>>> = {
  checkTaskComplete: (ralph, id) => ralph.checkTaskComplete(id),
  getTaskState: (ralph, id) => ralph.getTaskState(id),
  updateProgress: (ralph, task_id) =>
    ralph.updateProgress({ task_id, steps_total: 5, steps_completed: 3, current_step: 'Review' }),
  incrementIteration: (ralph, id) => ralph.incrementIteration(work(id)),
  completeTask: (ralph, id) => ralph.completeTask(id),
  handleTimeout: (ralph, id) => ralph.handleTimeout(id),
  handleMaxIterations: (ralph, id) => ralph.handleMaxIterations(id),
  approveTask: (ralph, id) => ralph.approveTask(id),
  rejectTask: (ralph, id) => ralph.rejectTask(id),
}

/** The error that a call ends with. */
export async function errorOf(call: Promise<unknown>): Promise<RalphError> {
  const error = await call.then(
    (value) => new Error(`It did not fail, but said ${JSON.stringify(value)}.`),
    (cause: unknown) => cause,
  )
  if (error instanceof RalphError) return error
  throw error
}
