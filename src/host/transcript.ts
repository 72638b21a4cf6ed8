/** Transcripts: `<loop>/loop.jsonl` holds the spec and every fact, `<loop>/<n>.jsonl` what was said in iteration n. */
import {
  closeSync,
  createReadStream,
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
import { join } from 'node:path'
import type { Fact, Spec } from '../engine/loop.ts'
import { inPlainWords, makePrivateFolder } from './files.ts'

type Beginning = { id: string; spec: Spec; at: number; tree?: string }

/** What a lost database is made of anew. */
export type Story = { beginning: Beginning; facts: Fact[] }

export type Transcripts = TurnRecords & {
  /** Undefined when there is no beginning to be found. */
  read(id: string): Story | undefined
  loops(): string[]
  /** Removes what was said in loops that ended and were not touched since; their facts stay. Says how many files. */
  prune(ended: ReadonlySet<string>, olderThan: number): number
}

/** What is written while a loop moves. */
export type TurnRecords = {
  turnFile(id: string, iteration: number): string
  begin(beginning: Beginning): void
  addFact(id: string, n: number, fact: Fact): void
  /** How many facts are there; -1 when not even the beginning is. */
  lastFact(id: string): number
  /** Appends what one attempt prints, as it comes. */
  openTurn(id: string, iteration: number): TurnLog
}

/** One folder a loop below `home/transcripts`. */
export function openTranscripts(home: string): Transcripts {
  const root = join(home, 'transcripts')
  const loopFile = (id: string) => join(root, id, 'loop.jsonl')
  const touchedAt = (id: string) => statSync(existsSync(loopFile(id)) ? loopFile(id) : join(root, id)).mtimeMs

  return {
    ...openRecords(home),

    read(id: string): Story | undefined {
      const [first, ...rest] = lines(readFileSync(loopFile(id), 'utf8'))
      if (!isBeginLine(first)) return undefined
      const facts: Fact[] = []
      for (const line of rest) if (isFactLine(line) && line.n === facts.length + 1) facts.push(line.fact)
      return { beginning: first.begin, facts }
    },

    loops(): string[] {
      return readdirSync(root).filter((id) => existsSync(loopFile(id)))
    },

    prune(ended: ReadonlySet<string>, olderThan: number): number {
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
      if (!existsSync(loopFile(id))) return -1
      const texts = tail(loopFile(id), 1 << 20).split('\n')
      // From the end, so that one line is read and not all of them.
      for (const text of texts.reverse()) {
        const [line] = lines(text)
        if (isFactLine(line)) return line.n
        if (isBeginLine(line)) return 0
      }
      return -1
    },

    openTurn(id: string, iteration: number): TurnLog {
      makePrivateFolder(join(root, id))
      const path = turnFile(id, iteration)
      const file = plainly(path, () => openToAppend(path))
      return {
        path,
        write: (entries) =>
          plainly(path, () => writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''))),
        close: () => closeSync(file),
      }
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
  // Not with node:readline, which ends lines at U+2028, too.
  let held: string[] = []
  for await (const text of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const [first = '', ...more] = text.split('\n')
    held.push(first)
    if (more.length === 0) continue
    // ralph wrote every line itself; only one that was cut is not an entry.
    yield* lines([held.join(''), ...more.slice(0, -1)].join('\n')) as TurnEntry[]
    held = more.slice(-1)
  }
  yield* lines(held.join('')) as TurnEntry[]
}

function append(path: string, value: unknown): void {
  plainly(path, () => {
    const file = openToAppend(path)
    try {
      writeFileSync(file, `${JSON.stringify(value)}\n`)
    } finally {
      closeSync(file)
    }
  })
}

/** A line that was cut off, by a full disk or a killed ralph, is ended first, so that the next one stands alone. */
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
