/** Alerts a person who may not be watching the session that its task needs them: terminal bell and webhook. */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { Loop } from '../engine/loop.ts'
import { loadConfig } from '../host/config.ts'
import { postWebhook } from '../host/webhook.ts'
import type { Note } from '../session/answer.ts'
import type { Desk } from '../session/begin.ts'
import { vaultOf } from '../vault/vault-task.ts'
import { endOf } from './task-words.ts'

const WEBHOOK_MS = 3_000

/** A task that ran out of time or turns needs a person, who may be elsewhere. */
export async function alertPerson({ home, store }: Desk, loop: Loop | undefined): Promise<Note[]> {
  if (loop?.next.kind !== 'halt' || !['timeout', 'max-iterations'].includes(loop.next.reason)) return []
  ringBell()
  const { path, id } = vaultOf(loop)
  const details = {
    task_id: id,
    vault: path,
    loop_id: loop.id,
    reason: loop.next.reason,
    iterations: loop.tally.iteration,
  }
  try {
    const address = loadConfig(home, path).notify_webhook
    const body = { title: `ralph: task ${id} stopped`, text: endOf(loop), ...details }
    const trouble = address && (await postWebhook(address, body, { patienceMs: WEBHOOK_MS }))
    if (address && !trouble) await store().tasks.change({ vault: path, id, loop: loop.id }, { told: true })
    return trouble ? [{ level: 'warning', text: `ralph: ${trouble}` }] : []
  } catch (cause) {
    return [{ level: 'warning', text: `ralph: ${cause instanceof Error ? cause.message : cause}` }]
  }
}

function ringBell(): void {
  try {
    const terminal = openSync('/dev/tty', 'w')
    writeSync(terminal, '\u0007')
    closeSync(terminal)
  } catch {
    // no terminal
  }
}
