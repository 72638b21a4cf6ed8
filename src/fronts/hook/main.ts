/** The hook program: one call per session event. It fails open: whatever goes wrong, it never traps a session. */
import { readFileSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { openCurrent } from '../../host/database.ts'
import { openHome } from '../../host/files.ts'
import { openLoopStore } from '../../host/loop-store.ts'
import type { LoopStore } from '../../host/store.ts'
import { openRecords } from '../../host/transcript.ts'
import { NOTHING } from '../../session/answer.ts'
import { loadArmed } from '../../session/armed.ts'
import type { Desk } from '../../session/desk.ts'
import { HOSTS } from '../../session/hosts.ts'
import { turnOver } from '../../session/turn-over.ts'
import { failOpen } from './fail-open.ts'
import type * as More from './more.ts'
import { readPayload, type Said } from './payload.ts'
import { printStop, type Reply } from './reply.ts'
import { readStop, transcriptOf } from './stop.ts'

/** `more` loads what only some calls need: the end of a turn without checks does not need it. */
async function main(more: () => typeof More): Promise<void> {
  const { env } = process
  if (env.RALPH_LOOP_ID) return // an agent that ralph itself started
  const home = resolve(env.RALPH_HOME || join(homedir(), '.ralph'))
  const said = readPayload(await readStdin(), env, CALLED.exec(process.argv.at(-1) ?? '')?.[0])
  if (!said) return
  const { out, error } = await reply(openDesk(home, said.from, more), said, more)
  if (error) process.exitCode = 2
  if (error) process.stderr.write(`${error}\n`)
  if (out) write(`${out}\n`)
}

const CALLED = /^(stop|prompt)$/

async function reply(desk: Desk, said: Said, more: () => typeof More): Promise<Reply> {
  const { from, payload, event } = said
  if (from.during === 'prompt') return more().replyToTyped(desk, said)
  const armed = loadArmed(desk.home, from.session)
  if (armed?.vault || process.argv.at(-2) === 'task') return more().replyToTask(desk, said)
  // Droid's one-shot mode does not tell a hook what was typed; its transcript has it.
  if (!armed && HOSTS[from.host].speaks === 'droid')
    return more().replyToRecord(desk, from, transcriptOf(payload) ?? '')
  if (!armed) return from.shim ? printStop(NOTHING, from) : {}
  if (event === 'AfterTool') return more().replyToTool(desk, said)
  const over = await readStop(from, payload, {
    ...armed,
    newPart: (text, before, record) => more().newPart(text, before, record),
    lastMessage: (path) => more().lastMessage(path, from.host, payload),
    failed: (message) => more().meaningOf(message, desk.now()),
  })
  const answer = await failOpen(() => turnOver(desk, over))
  const { mute } = HOSTS[from.host]
  if (answer.prompt === undefined && mute) more().sayAloud(answer, mute)
  return printStop(answer, from)
}

/** The store is not closed: it has saved everything, and closing takes time. */
function openDesk(home: string, { shim }: Said['from'], more: () => typeof More): Desk {
  let store: LoopStore | undefined
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  return {
    home,
    env: process.env,
    now: Date.now,
    began: Date.now() - process.uptime() * 1_000,
    store() {
      if (store) return store
      openHome(home)
      store = openLoopStore({
        home,
        now: Date.now,
        transcripts: openRecords(home),
        open: (path) => openCurrent(path) ?? more().openDatabase(path),
      })
      return store
    },
    words: more,
    checker: (checking) => more().checker({ home, now: Date.now }, checking),
    stop: stop.signal,
    show(event, loop) {
      if (shim && event.kind === 'check-start' && loop.next.kind === 'check')
        process.stderr.write(`${JSON.stringify({ checking: loop.next.checks.join(', ') })}\n`)
    },
  }
}

/** Opening the stdout stream takes as long as everything else together. */
function write(text: string): void {
  let bytes = Buffer.from(text)
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(1, bytes))
  } catch {
    process.stdout.write(bytes) // the pipe is full
  }
}

async function readStdin(): Promise<string> {
  try {
    return readFileSync(0, 'utf8')
  } catch {
    // A pipe that is not ready cannot be read synchronously.
    const pieces: Buffer[] = []
    for await (const piece of process.stdin) pieces.push(piece)
    return Buffer.concat(pieces).toString('utf8')
  }
}

void main(() => require('./hook-more.cjs'))
