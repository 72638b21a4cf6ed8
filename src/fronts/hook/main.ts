/** The hook program: one call for one event of a session. It fails open: whatever goes wrong, nobody's session is trapped. */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { RalphError } from '../../error.ts'
import { openCurrent } from '../../host/database.ts'
import { type LoopStore, openLoopStore } from '../../host/loop-store.ts'
import { openRecords } from '../../host/transcript.ts'
import { type Answer, say } from '../../session/answer.ts'
import { loadArmed } from '../../session/armed.ts'
import { type Desk, goOnNow, otherPrompt, turnOver } from '../../session/turn-over.ts'
import { type Event, readEvent } from './event.ts'
import type * as More from './more.ts'
import { printReply } from './reply.ts'

/** `more` loads what only some calls need. */
async function main(more: () => typeof More): Promise<void> {
  const { env } = process
  if (env.RALPH_LOOP_ID) return // an agent that ralph itself has started
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const text = await readStdin()
  const event = await readEvent(text, env, { armed: (session) => loadArmed(home, session), more })
  if (!event) return
  const { desk, close } = openDesk(home, event, more)
  try {
    const { out, error } = printReply(await answerTo(desk, event, more), event)
    if (out) process.stdout.write(`${out}\n`)
    if (error) process.stderr.write(`${error}\n`)
    if (error) process.exitCode = 2
  } finally {
    await close()
  }
}

async function answerTo(desk: Desk, event: Event, more: () => typeof More): Promise<Answer> {
  try {
    switch (event.kind) {
      case 'command':
        return await more().command(desk, event.command, event)
      case 'prompt':
        return await otherPrompt(desk, event.session, event.words)
      case 'stop':
        return await turnOver(desk, event)
      case 'woke':
        return await goOnNow(desk, event.session, { kind: 'woke', at: desk.now() })
    }
  } catch (cause) {
    // An error of the other half of this program is of that half's class.
    if (cause instanceof Error && cause.name === RalphError.name) return say(`ralph: ${cause.message}`, 'error')
    process.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`)
    const words = cause instanceof Error ? cause.message : String(cause)
    return say(`ralph: this is a bug in ralph, and the loop rests: ${words}`, 'error')
  }
}

function openDesk(home: string, { shim }: Event, more: () => typeof More): { desk: Desk; close(): Promise<void> } {
  let store: LoopStore | undefined
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  const desk: Desk = {
    home,
    env: process.env,
    now: Date.now,
    store: () =>
      (store ??= openLoopStore({
        ...{ home, now: Date.now, transcripts: openRecords(home) },
        open: (path) => openCurrent(path) ?? more().openDatabase(path),
      })),
    checker: (checking) => more().checker({ home, now: Date.now }, checking),
    stop: stop.signal,
    show(event, loop) {
      if (shim && event.kind === 'check-start' && loop.next.kind === 'check')
        process.stderr.write(`${JSON.stringify({ checking: loop.next.checks.join(', ') })}\n`)
    },
  }
  return { desk, close: async () => store?.close() }
}

async function readStdin(): Promise<string> {
  try {
    return readFileSync(0, 'utf8')
  } catch {
    // A pipe that is not ready cannot be read at once.
    const pieces: Buffer[] = []
    for await (const piece of process.stdin) pieces.push(piece)
    return Buffer.concat(pieces).toString('utf8')
  }
}

void main(() => require('./hook-more.cjs'))
