/** Transcripts: `<loop>/loop.jsonl` holds the spec and every fact, `<loop>/<n>.jsonl` what was said in iteration n. */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fact, Spec } from '../engine/loop.ts'
import { makePrivateFolder } from './files.ts'
import { inPlainWords } from './plain-words.ts'
import type { Transcripts, TurnBytes } from './store.ts'

/**
 * `graded`: checks come before the first turn, and proofs have grades. Absent: an older ralph started it. `queued`: it
 * waited for room.
 */
type Beginning = { id: string; spec: Spec; at: number; tree?: string | undefined; graded?: true; queued?: true }

/** What a lost database is rebuilt from. `last`: the number of the last fact, although one before it may be missing. */
export type Story = { beginning: Beginning; facts: Fact[]; last: number }

/** Transcripts in this machine's own files, from which a lost database can be rebuilt. */
export type LocalTranscripts = TurnRecords &
  Transcripts & {
    /** Undefined if there is no start. */
    story(id: string): Story | undefined
    loops(): string[]
  }

/** What is written while a loop moves. */
export type TurnRecords = {
  turnFile(id: string, iteration: number): string
  begin(beginning: Beginning): void
  addFact(id: string, n: number, fact: Fact): void
  /** How many facts there are; -1 if even the start is missing. */
  lastFact(id: string): number
  /** Appends what one attempt prints, as it comes. */
  openTurn(id: string, iteration: number): TurnLog
}

/** One folder per loop below `home/transcripts`. */
export function openTranscripts(home: string): LocalTranscripts {
  const root = join(home, 'transcripts')
  const loopFile = (id: string) => join(root, id, 'loop.jsonl')
  const touchedAt = (id: string) => statSync(existsSync(loopFile(id)) ? loopFile(id) : join(root, id)).mtimeMs

  const records = openRecords(home)

  return {
    ...records,
    read: (id, iteration, from) => readBytes(records.turnFile(id, iteration), from),
    size: async (id, iteration) => sizeOf(records.turnFile(id, iteration)),

    story(id: string): Story | undefined {
      const [first, ...rest] = lines(readFileSync(loopFile(id), 'utf8'))
      if (numberOf(first) !== 0) return undefined
      const facts: Fact[] = []
      for (const line of rest) if (numberOf(line) === facts.length + 1) facts.push((line as { fact: Fact }).fact)
      const last = Math.max(0, ...rest.map((line) => numberOf(line) ?? 0))
      return { beginning: (first as { begin: Beginning }).begin, facts, last }
    },

    loops(): string[] {
      return readdirSync(root).filter((id) => existsSync(loopFile(id)))
    },

    async prune(ended: ReadonlySet<string>, olderThan: number): Promise<number> {
      const old = readdirSync(root).filter((id) => ended.has(id) && touchedAt(id) < olderThan)
      const spoken = old.flatMap((id) =>
        readdirSync(join(root, id))
          .filter((name) => /^\d+\.jsonl$/.test(name))
          .map((name) => join(root, id, name)),
      )
      for (const path of spoken) rmSync(path, { force: true })
      return spoken.length
    },
  }
}

export function openRecords(home: string): TurnRecords {
  const root = join(home, 'transcripts')
  makePrivateFolder(root)
  const loopFile = (id: string) => join(root, id, 'loop.jsonl')
  const turnFile = (id: string, iteration: number) => join(root, id, `${iteration}.jsonl`)

  return {
    turnFile,

    begin(beginning: Beginning): void {
      makePrivateFolder(join(root, beginning.id))
      append(loopFile(beginning.id), { begin: beginning })
    },

    addFact(id: string, n: number, fact: Fact): void {
      append(loopFile(id), { n, fact })
    },

    lastFact(id: string): number {
      const path = loopFile(id)
      const texts = existsSync(path) ? tail(path, 1 << 20).split('\n') : []
      // From the end, so that one line is read and not all of them.
      for (const text of texts.reverse()) {
        const n = numberOf(lines(text)[0])
        if (n !== undefined) return n
      }
      return -1
    },

    openTurn(id: string, iteration: number): TurnLog {
      makePrivateFolder(join(root, id))
      return openLog(turnFile(id, iteration))
    },
  }
}

/** How many loops a database could be rebuilt with. */
export function countStories(home: string): number {
  const root = join(home, 'transcripts')
  return existsSync(root) ? readdirSync(root).filter((id) => existsSync(join(root, id, 'loop.jsonl'))).length : 0
}

/** `out` and `err` are pieces of what the agent printed; the rest is what ralph did. */
export type TurnEntry =
  | { at: number; attempt: number; prompt: string; command: string[] }
  | { out: string }
  | { err: string }
  | { at: number; exit: number | null; signal: string | null }
  /** It holds no more of what is printed. `dropped`: how many bytes that was in the end. */
  | { at: number; limitMb: number; dropped?: number }

/** `write` returns how many bytes it took. */
export type TurnLog = {
  path: string
  write(entries: TurnEntry[]): number
  /** Makes what was written so far readable for others. Absent: it is at once. */
  arrived?(): Promise<void>
  close(): void
}

/** The entries of an iteration's transcript, one by one, whatever its size; an incomplete line is skipped. */
export async function* readTurnLog(
  { read }: Pick<Transcripts, 'read'>,
  loop: string,
  iteration: number,
): AsyncGenerator<TurnEntry> {
  const decoder = new TextDecoder()
  // Not with node:readline, which also ends lines at U+2028.
  let held: string[] = []
  for (let part = await read(loop, iteration, 0), from = 0; part.next > from; ) {
    const [first = '', ...more] = decoder.decode(part.bytes, { stream: true }).split('\n')
    held.push(first)
    if (more.length > 0) {
      yield* entriesIn([held.join(''), ...more.slice(0, -1)].join('\n'))
      held = more.slice(-1)
    }
    from = part.next
    part = await read(loop, iteration, from)
  }
  yield* entriesIn(held.join(''))
}

/** `next`: where to continue, in bytes; it equals `from` while there is nothing more. */
export type TurnPart = { entries: TurnEntry[]; next: number }

/** The next entries of an iteration's transcript: a portion of whole lines. What is before `from` is not read. */
export async function readTurnPart(
  { read }: Pick<Transcripts, 'read'>,
  { loop, iteration, from }: { loop: string; iteration: number; from: number },
): Promise<TurnPart> {
  const parts: Uint8Array[] = []
  for (let at = from; ; ) {
    const { bytes, next } = await read(loop, iteration, at)
    const end = bytes.lastIndexOf(LINE_BREAK) + 1
    parts.push(end > 0 ? bytes.subarray(0, end) : bytes)
    if (end > 0) {
      const text = new TextDecoder().decode(Buffer.concat(parts))
      return { entries: entriesIn(text), next: at + end }
    }
    if (next === at) return { entries: [], next: from } // a line that is still being written
    at = next
  }
}

/** ralph wrote every line itself; one that was truncated, or that a disk has changed, is left out. */
export function entriesIn(text: string): TurnEntry[] {
  return lines(text).filter(isEntry)
}

function isEntry(value: unknown): value is TurnEntry {
  const { out, err, prompt, attempt, command, exit, limitMb } = Object(value) as Record<string, unknown>
  if (prompt !== undefined) return typeof prompt === 'string' && typeof attempt === 'number' && Array.isArray(command)
  return typeof (out ?? err) === 'string' || exit === null || typeof (exit ?? limitMb) === 'number'
}

export const LINE_BREAK = 10

export const PART_BYTES = 262_144

async function readBytes(path: string, from: number): Promise<TurnBytes> {
  // A reader that follows a log asks often, and mostly there is nothing new.
  const there = sizeOf(path) - from
  if (there <= 0) return { bytes: new Uint8Array(), next: from }
  const file = await open(path)
  try {
    const size = Math.min(PART_BYTES, there)
    const { bytesRead, buffer } = await file.read(Buffer.alloc(size), 0, size, from)
    return { bytes: buffer.subarray(0, bytesRead), next: from + bytesRead }
  } finally {
    await file.close()
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function append(path: string, value: unknown): void {
  const log = openLog(path)
  try {
    log.write([value])
  } finally {
    log.close()
  }
}

function openLog(path: string): { path: string; write(values: unknown[]): number; close(): void } {
  const file = plainly(path, () => openToAppend(path))
  return {
    path,
    write: (values) =>
      plainly(path, () => {
        const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''))
        writeFileSync(file, bytes)
        return bytes.length
      }),
    close: () => closeSync(file),
  }
}

/** A line that was truncated by a full disk or a killed ralph is ended first, so that the next one stands alone. */
function openToAppend(path: string): number {
  const file = openSync(path, 'a+', 0o600)
  const last = Buffer.from('\n')
  readSync(file, last, 0, 1, Math.max(0, fstatSync(file).size - 1))
  if (last.toString() !== '\n') writeFileSync(file, '\n')
  return file
}

function plainly<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

/** A truncated line is left out. */
function lines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as unknown]
    } catch {
      return [] // empty, or truncated when ralph was killed
    }
  })
}

function tail(path: string, bytes: number): string {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const buffer = Buffer.alloc(Math.min(bytes, size))
    readSync(file, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8')
  } finally {
    closeSync(file)
  }
}

/** The start is 0, facts count from 1; a line of somebody else has no number. */
function numberOf(line: unknown): number | undefined {
  const { begin, n, fact } = (line ?? {}) as { begin?: unknown; n?: unknown; fact?: unknown }
  if (begin) return 0
  return fact && typeof n === 'number' ? n : undefined
}
