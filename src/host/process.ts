/** Programs: started without a shell, streamed line by line, ended with everything they started. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as sleep } from 'node:timers/promises'
import { folderGone, isFolder } from './files.ts'
import { countForks, endProcesses } from './process-tree.ts'

export type Started = {
  argv: readonly string[]
  dir: string
  env: Readonly<Record<string, string | undefined>>
  stdin: string
  /** Stdin stays open after `stdin` is written, until a reply is `done`. */
  dialogue?: boolean
  /** A whole line, or the first part of one that is too long to be held. May return what to write back. */
  onLine?: (line: string, stream: Stream) => Reply | undefined
  /** Everything it prints, in pieces of whole lines where lines are not too long, for the record. Throwing ends the program. */
  onPiece?: (text: string, stream: Stream) => void
  silenceMs?: number
  deadlineMs?: number
  graceMs: number
  signal?: AbortSignal
  /** Fires when the program is known to have finished: from then on it is ended once it is quiet for a while. */
  finished?: AbortSignal
}

/** `done`: it has said all. Its stdin ends, and, should it not end by itself soon, the program too. */
type Reply = { write?: string; done?: boolean }

export type Stream = 'out' | 'err'
/** `lingered`: it had finished, but did not end by itself. */
export type Ended = {
  code: number | null
  signal: string | null
  stopped?: 'silent' | 'deadline' | 'told'
  lingered?: true
}

/**
 * Runs a program to its end. A small sh stands beside it and ends the whole group when ralph dies, also by kill -9:
 * it holds the other end of a pipe that only ralph keeps open.
 */
export async function runProgram(started: Started): Promise<Ended> {
  const { argv, dir, env, stdin, signal, silenceMs, deadlineMs } = started
  if (signal?.aborted) return { code: null, signal: null, stopped: 'told' }
  const marker = `RALPH_PROCESS=${randomUUID()}`
  const forks = countForks()
  const child = spawn('/bin/sh', ['-c', BESIDE, 'ralph', marker, ...argv], {
    cwd: dir,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  })
  await new Promise<void>((started, failed) => child.once('spawn', started).once('error', failed)).catch((cause) => {
    throw isFolder(dir) ? cause : folderGone(dir, cause)
  })

  let stopped: Ended['stopped']
  let broken: unknown
  let ending: Promise<void> | undefined
  const end = (graceMs: number) =>
    (ending ??= endProcesses({
      group: child.pid ?? 0,
      marker,
      forks,
      graceMs,
      exited: () => child.exitCode !== null || child.signalCode !== null,
    }))
  const stop = (why: Ended['stopped']) => {
    stopped ??= why
    void end(started.graceMs).catch((cause) => (broken ??= cause))
  }

  const silence = timer(silenceMs, () => stop('silent'))
  const deadline = timer(deadlineMs, () => stop('deadline'))
  const onAbort = () => stop('told')
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort() // while it was being started

  let lingered = false
  let quiet: ReturnType<typeof timer> | undefined
  let longest: ReturnType<typeof timer> | undefined
  const linger = () => {
    lingered = !stopped
    void end(started.graceMs).catch((cause) => (broken ??= cause))
  }
  const onFinished = () => {
    quiet = timer(QUIET_MS, linger)
    longest = timer(LONGEST_LINGER_MS, linger)
  }
  started.finished?.addEventListener('abort', onFinished, { once: true })

  const read = (source: Readable, stream: Stream) =>
    readLines(source, {
      onChunk: () => {
        silence.restart()
        quiet?.restart()
      },
      onPiece: (text) => guarded(() => started.onPiece?.(text, stream)),
      onLine: (line) => guarded(() => answer(started.onLine?.(line, stream))),
    })
  const reading = [read(child.stdout, 'out'), read(child.stderr, 'err')]
  child.stdin.on('error', () => {}) // it may end without reading its prompt
  child.stdin.write(stdin)
  if (!started.dialogue) child.stdin.end()

  const exit = await new Promise<Ended>((done) => child.once('exit', (code, by) => done({ code, signal: by })))
  silence.stop()
  deadline.stop()
  quiet?.stop()
  longest?.stop()
  signal?.removeEventListener('abort', onAbort)
  started.finished?.removeEventListener('abort', onFinished)
  await end(started.graceMs)
  // What is left in the pipes is read to the end. Only what could hide from the sweep may still hold them open.
  await Promise.race([Promise.all(reading), sleep(LONGEST_DRAIN_MS, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  await Promise.all(reading)
  child.stdin.destroy()
  // The fourth pipe is a socket, as Node makes them.
  ;(child.stdio[3] as Duplex).destroy()
  if (broken) throw broken
  return { ...exit, ...(stopped ? { stopped } : {}), ...(lingered ? { lingered: true as const } : {}) }

  function answer(reply: Reply | undefined): void {
    if (reply?.write) child.stdin.write(reply.write)
    if (!reply?.done) return
    child.stdin.end()
    setTimeout(() => void end(started.graceMs).catch((cause) => (broken ??= cause)), LINGER_MS).unref()
  }

  // What the listeners throw, such as a full disk while recording, ends the program and is thrown to the caller.
  function guarded(work: () => void): void {
    if (broken) return
    try {
      work()
    } catch (cause) {
      broken = cause
      stop('told')
    }
  }
}

// fd 3 is the lifeline. The watcher ignores TERM, so that it outlives the polite end of its own group; KILL ends it too.
// The marker is exported after the watcher is forked, so that a sweep for the marker does not find the watcher.
const BESIDE = `
marker=$1; shift
( trap '' TERM INT HUP
  read -r _ <&3 && exit
  sweep() { grep -lFsa "$marker" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do kill -"$1" "$pid" 2>/dev/null; done; }
  kill -TERM -$$; sweep TERM
  sleep 0.3
  for _ in 1 2 3; do sweep KILL; done
  kill -KILL -$$
) </dev/null >/dev/null 2>&1 &
export "$marker"
exec "$@" 3<&-
`

/** How long a program that has said all may take to end by itself. */
const LINGER_MS = 2_000

/** How long one that is known to have finished may be quiet, and how long it may go on at all: its last words tell what it cost. */
const QUIET_MS = 10_000
const LONGEST_LINGER_MS = 60_000

const LONGEST_LINE = 8 * 1024 * 1024
const LONGEST_PIECE = 64 * 1024
const LONGEST_DRAIN_MS = 1_000

type Reading = { onChunk: () => void; onPiece: (text: string) => void; onLine: (line: string) => void }

/** Bytes that are not UTF-8 become U+FFFD; a line longer than eight million characters is cut, so memory stays flat. */
function readLines(source: Readable, { onChunk, onPiece, onLine }: Reading): Promise<void> {
  const decoder = new StringDecoder('utf8')
  let parts: string[] = []
  let held = 0
  let unrecorded = ''
  const record = (text: string) => {
    if (text) onPiece(text)
  }
  const finish = (line: string) => onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  const take = (text: string) => {
    // Recorded first: what somebody has been shown is never lost.
    const all = `${unrecorded}${text}`
    const wholeLines = all.lastIndexOf('\n') + 1
    const cut = wholeLines === 0 && all.length > LONGEST_PIECE ? all.length : wholeLines
    record(all.slice(0, cut))
    unrecorded = all.slice(cut)
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const line of lines) {
      finish(held > 0 ? [...parts, line].join('') : line)
      parts = []
      held = 0
    }
    if (rest && held < LONGEST_LINE) {
      parts.push(rest)
      held += rest.length
    }
  }
  return new Promise((done) => {
    source.on('data', (bytes: Buffer) => {
      onChunk()
      take(decoder.write(bytes))
    })
    source.once('close', () => {
      take(decoder.end())
      record(unrecorded)
      if (held > 0) finish(parts.join(''))
      done()
    })
  })
}

function timer(ms: number | undefined, ring: () => void): { restart(): void; stop(): void } {
  if (ms === undefined) return { restart: () => {}, stop: () => {} }
  // setTimeout cannot hold more than 24 days.
  const clock = setTimeout(ring, Math.max(0, Math.min(ms, 2 ** 31 - 1)))
  return { restart: () => clock.refresh(), stop: () => clearTimeout(clock) }
}

/** The file a program name stands for, looked up as a shell would, or undefined. */
export function findProgram(name: string, dir: string, path: string = process.env.PATH ?? ''): string | undefined {
  const candidates = name.includes('/')
    ? [resolve(dir, name)]
    : path
        .split(delimiter)
        .filter(Boolean)
        .map((folder) => join(folder, name))
  return candidates.find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    // Asked first, since it does not throw: most folders of PATH do not have the program.
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false // not there, or not ours to run
  }
}
