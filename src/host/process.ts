/** Programs: started without a shell, streamed line by line, ended with everything they started. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { delimiter, join, resolve } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isFolder } from './files.ts'
import { isExecutable } from './own-program.ts'
import { folderMissing } from './plain-words.ts'
import { chooseLimit, countForks, endProcesses } from './process-tree.ts'
import { readLines } from './read-lines.ts'
import { startWhenRoom } from './shortage.ts'

export type Started = {
  argv: readonly string[]
  dir: string
  env: Readonly<Record<string, string | undefined>>
  stdin: string
  /** Stdin stays open after `stdin` is written, until a reply is `done`. */
  dialogue?: boolean
  /** A whole line, or the first part of one that is too long to hold. May return what to write back. */
  onLine?: (line: string, stream: Stream) => Reply | undefined
  /**
   * Everything it prints, for the record, in pieces of whole lines unless they are too long. Throwing ends the program.
   */
  onPiece?: (text: string, stream: Stream) => void
  silenceMs?: number
  deadlineMs?: number
  graceMs: number
  signal?: AbortSignal
  /** Fires when the program is known to have finished: from then on it is ended once it is quiet for a while. */
  finished?: AbortSignal
}

/** `done`: everything is said. Its stdin is closed, and the program is ended if it does not end by itself soon. */
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
 * Runs a program to its end. A small sh next to it kills the whole group when ralph dies, even by kill -9: it holds the
 * other end of a pipe that only ralph keeps open. Returns or throws only when nothing of it is alive. If the machine
 * has no room for another program, it is started as soon as there is some.
 */
export async function runProgram(started: Started): Promise<Ended> {
  const { signal } = started
  if (signal?.aborted) return TOLD
  const began = performance.now()
  const fate = await startWhenRoom(() => runOnce(started, performance.now() - began), { signal }).catch((cause) => {
    if (!signal?.aborted) throw cause
    return TOLD
  })
  if ('broken' in fate) throw fate.broken
  return fate
}

const TOLD: Ended = { code: null, signal: null, stopped: 'told' }

/** Throws only what kept it from being started; what its listeners throw is `broken`. */
async function runOnce(started: Started, waitedMs: number): Promise<Ended | { broken: unknown }> {
  const program = await launch(started)
  const { child, fate } = program
  const clocks = watchOver(program, started, waitedMs)
  const reading = Promise.all([
    listen(child.stdout, 'out', program, { started, clocks }),
    listen(child.stderr, 'err', program, { started, clocks }),
  ])
  child.stdin.on('error', () => {}) // it may end without reading its prompt
  child.stdin.write(started.stdin)
  if (!started.dialogue) child.stdin.end()

  const exit = await new Promise<Ended>((done) => child.once('exit', (code, by) => done({ code, signal: by })))
  clocks.stop()
  await program.end()
  const hasStarted = await program.hasStarted
  await drain(child, reading)
  if (fate.broken) return { broken: fate.broken.cause }
  const { stopped, lingered } = fate
  if (!hasStarted && !stopped)
    throw Object.assign(new Error('The shell could not start the program'), { code: 'EAGAIN' })
  return { ...exit, ...(stopped ? { stopped } : {}), ...(lingered ? { lingered } : {}) }
}

type Program = {
  child: ChildProcessByStdio<Writable, Readable, Readable>
  fate: Pick<Ended, 'stopped' | 'lingered'> & { broken?: { cause: unknown } }
  /** Whether the shell got to the program: it must fork first, for which there may be no room. */
  hasStarted: Promise<boolean>
  /** Ends it with everything it started; a second caller waits for the same end. */
  end(): Promise<void>
  /** The first reason stays. */
  stop(why: Ended['stopped']): void
  /** What the listeners throw, such as a full disk while recording, ends the program and is thrown to the caller. */
  guarded(work: () => void): void
}

async function launch({ argv, dir, env, graceMs }: Started): Promise<Program> {
  const marker = `RALPH_PROCESS=${randomUUID()}`
  const limit = chooseLimit()
  const forks = countForks()
  const child = spawn('/bin/sh', ['-c', WATCHED, 'ralph', marker, String(limit), ...argv], {
    cwd: dir,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    detached: true,
  }) as ChildProcessByStdio<Writable, Readable, Readable> // the first three are pipes, see `stdio`
  await new Promise<void>((started, failed) => child.once('spawn', started).once('error', failed)).catch((cause) => {
    throw isFolder(dir) ? cause : folderMissing(dir, cause)
  })
  const hasStarted = new Promise<boolean>((known) => {
    lifelineOf(child)
      ?.once('data', () => known(true))
      .once('close', () => known(false))
      .on('error', () => {}) // it closes then
  })
  const exited = () => child.exitCode !== null || child.signalCode !== null
  const fate: Program['fate'] = {}
  let ending: Promise<void> | undefined
  const end = () => (ending ??= endProcesses({ group: child.pid ?? 0, marker, limit, forks, graceMs, exited }))
  const stop = (why: Ended['stopped']) => {
    if (why) fate.stopped ??= why
    void end().catch((cause) => (fate.broken ??= { cause }))
  }
  const guarded = (work: () => void) => {
    if (fate.broken) return
    try {
      work()
    } catch (cause) {
      fate.broken = { cause }
      stop('told')
    }
  }
  return { child, fate, hasStarted, end, stop, guarded }
}

type Clocks = { heard(): void; stop(): void }

/** Ends a program that is silent, late, no longer wanted, or finished without ending. */
function watchOver({ fate, stop }: Program, started: Started, waitedMs: number): Clocks {
  const { signal, finished, silenceMs, deadlineMs } = started
  const silence = timer(silenceMs, () => stop('silent'))
  const deadline = timer(deadlineMs === undefined ? undefined : deadlineMs - waitedMs, () => stop('deadline'))
  const lingering: Timer[] = []
  const linger = () => {
    if (!fate.stopped) fate.lingered = true
    stop(undefined)
  }
  const onAbort = () => stop('told')
  const onFinished = () => void lingering.push(timer(QUIET_MS, linger), timer(LONGEST_LINGER_MS, linger))
  signal?.addEventListener('abort', onAbort, { once: true })
  finished?.addEventListener('abort', onFinished, { once: true })
  if (signal?.aborted) onAbort() // while it was being started
  return {
    heard: () => {
      silence.restart()
      lingering[0]?.restart()
    },
    stop: () => {
      for (const clock of [silence, deadline, ...lingering]) clock.stop()
      signal?.removeEventListener('abort', onAbort)
      finished?.removeEventListener('abort', onFinished)
    },
  }
}

type Listening = { started: Started; clocks: Clocks }

function listen(source: Readable, stream: Stream, program: Program, { started, clocks }: Listening): Promise<void> {
  const { child, guarded, stop } = program
  return readLines(source, {
    onChunk: clocks.heard,
    onPiece: (text) => guarded(() => started.onPiece?.(text, stream)),
    onLine: (line) => guarded(() => answer(started.onLine?.(line, stream))),
  })

  function answer(reply: Reply | undefined): void {
    if (reply?.write) child.stdin.write(reply.write)
    if (!reply?.done) return
    child.stdin.end()
    setTimeout(() => stop(undefined), LINGER_MS).unref()
  }
}

/**
 * Reads what is left in the pipes to the end. Only a process that could hide from the sweep may still hold them open.
 */
async function drain(child: Program['child'], reading: Promise<unknown>): Promise<void> {
  await Promise.race([reading, sleep(LONGEST_DRAIN_MS, undefined, { ref: false })])
  child.stdout.destroy()
  child.stderr.destroy()
  await reading
  child.stdin.destroy()
  lifelineOf(child)?.destroy()
}

/** The fourth pipe. It is a socket, as Node makes them. */
function lifelineOf(child: Program['child']): Duplex | null | undefined {
  return child.stdio[3] as Duplex | null | undefined
}

// fd 3 is the lifeline, and signals that everything is ready for the program. The watcher ignores TERM, so that it
// outlives the SIGTERM to its own group; KILL ends it too. The marker is exported after the watcher is forked, so that
// a sweep for the marker does not find the watcher; the same goes for the limit. It is for daemons that drop their
// environment, see `chooseLimit`.
const WATCHED = `
marker=$1; limit=$2; shift 2
( trap '' TERM INT HUP
  read -r _ <&3 && exit
  ours() { grep -lFsa "$marker" /proc/[0-9]*/environ; [ "$limit" = 0 ] || grep -ls "^Max file locks  *$limit " /proc/[0-9]*/limits; }
  sweep() { ours 2>/dev/null | while IFS=/ read -r _ _ pid _; do kill -"$1" "$pid" 2>/dev/null; done; }
  kill -TERM -$$; sweep TERM
  sleep 0.3
  for _ in 1 2 3; do sweep KILL; done
  kill -KILL -$$
) </dev/null >/dev/null 2>&1 &
export "$marker"
[ "$limit" = 0 ] || ulimit -w "$limit" 2>/dev/null || ulimit -x "$limit" 2>/dev/null # as each shell calls it
printf . >&3
exec "$@" 3<&-
`

/** How long a program may take to end by itself once everything is said. */
const LINGER_MS = 2_000

/**
 * How long a program that is known to have finished may be quiet, and how long it may run at all: its last lines say
 * what it cost.
 */
const QUIET_MS = 10_000
const LONGEST_LINGER_MS = 60_000

const LONGEST_DRAIN_MS = 1_000

type Timer = { restart(): void; stop(): void }

function timer(ms: number | undefined, ring: () => void): Timer {
  if (ms === undefined) return { restart: () => {}, stop: () => {} }
  // setTimeout cannot hold more than 24 days.
  const clock = setTimeout(ring, Math.max(0, Math.min(ms, 2 ** 31 - 1)))
  return { restart: () => clock.refresh(), stop: () => clearTimeout(clock) }
}

/** The file that a program name stands for, looked up as a shell would, or undefined. */
export function findProgram(name: string, dir: string, path: string = process.env.PATH ?? ''): string | undefined {
  const candidates = name.includes('/')
    ? [resolve(dir, name)]
    : path
        .split(delimiter)
        .filter(Boolean)
        .map((folder) => join(folder, name))
  return candidates.find(isExecutable)
}
