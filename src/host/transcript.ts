/** Transcripts: `<loop>/loop.jsonl` holds the spec and every fact, `<loop>/<n>.jsonl` what was said in iteration n. */
import {
  appendFileSync,
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fact, Spec } from '../engine/loop.ts'
import { inPlainWords, makePrivateFolder } from './files.ts'

export type Beginning = { id: string; spec: Spec; at: number; tree?: string }

export type Transcripts = {
  turnFile(id: string, iteration: number): string
  begin(beginning: Beginning): void
  addFact(id: string, n: number, fact: Fact): void
  /** How many facts are there; -1 when the file itself is missing. */
  lastFact(id: string): number
  /** What a lost database is made of anew. */
  read(id: string): { beginning: Beginning; facts: Fact[] } | undefined
  loops(): string[]
  /** Appends what one attempt prints, as it comes. */
  openTurn(id: string, iteration: number): TurnLog
  /** Removes the transcripts of loops that ended and were not touched since. Says how many. */
  prune(ended: ReadonlySet<string>, olderThan: number): number
}

/** One folder a loop below `home/transcripts`. */
export function openTranscripts(home: string): Transcripts {
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
      if (!existsSync(loopFile(id))) return -1
      const last = lines(tail(loopFile(id), 1 << 20)).at(-1)
      return isFactLine(last) ? last.n : 0
    },

    read(id: string): { beginning: Beginning; facts: Fact[] } | undefined {
      const [first, ...rest] = lines(readFileSync(loopFile(id), 'utf8'))
      if (!isBeginLine(first)) return undefined
      const facts: Fact[] = []
      for (const line of rest) if (isFactLine(line) && line.n === facts.length + 1) facts.push(line.fact)
      return { beginning: first.begin, facts }
    },

    loops(): string[] {
      return readdirSync(root).filter((id) => existsSync(loopFile(id)))
    },

    openTurn(id: string, iteration: number): TurnLog {
      makePrivateFolder(join(root, id))
      const path = turnFile(id, iteration)
      const file = openSync(path, 'a', 0o600)
      return {
        path,
        write: (entries) => {
          try {
            writeSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
          } catch (cause) {
            throw inPlainWords(cause, path)
          }
        },
        close: () => closeSync(file),
      }
    },

    prune(ended: ReadonlySet<string>, olderThan: number): number {
      const old = readdirSync(root).filter((id) => ended.has(id) && statSync(join(root, id)).mtimeMs < olderThan)
      for (const id of old) rmSync(join(root, id), { recursive: true, force: true })
      return old.length
    },
  }
}

/** `out` and `err` are pieces of what the agent printed; the rest is what ralph did. */
export type TurnEntry =
  | { at: number; attempt: number; prompt: string; command: string[] }
  | { out: string }
  | { err: string }
  | { at: number; exit: number | null; signal: string | null }

export type TurnLog = { path: string; write(entries: TurnEntry[]): void; close(): void }

/** The entries of a transcript, one by one, whatever its size; a line that is only half there is passed over. */
export async function* readTurnLog(path: string): AsyncGenerator<TurnEntry> {
  if (!existsSync(path)) return
  // ralph wrote every line itself, whole; only the last can be cut.
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }))
    yield* lines(line) as TurnEntry[]
}

function append(path: string, value: unknown): void {
  try {
    appendFileSync(path, `${JSON.stringify(value)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

function lines(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line ? [JSON.parse(line) as unknown] : []
    } catch {
      return [] // cut off when ralph was killed
    }
  })
}

function tail(path: string, bytes: number): string {
  const file = openSync(path, 'r')
  try {
    const size = statSync(path).size
    const buffer = Buffer.alloc(Math.min(bytes, size))
    readSync(file, buffer, 0, buffer.length, size - buffer.length)
    return buffer.toString('utf8')
  } finally {
    closeSync(file)
  }
}

function isBeginLine(line: unknown): line is { begin: Beginning } {
  return typeof line === 'object' && line !== null && 'begin' in line
}

function isFactLine(line: unknown): line is { n: number; fact: Fact } {
  return typeof line === 'object' && line !== null && 'n' in line && typeof line.n === 'number' && 'fact' in line
}
