/** Notifies the user through the configured webhook that a task timed out. */
import type { Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { loadConfig } from '../host/config.ts'
import type { TaskRow } from '../host/store.ts'
import { postWebhook } from '../host/webhook.ts'
import type { VaultDesk } from './desk.ts'
import { statusOfTask } from './lifecycle.ts'
import { timeoutMessage } from './telling.ts'

/** A webhook that does not answer must not block the caller for long. */
const WEBHOOK_MS = 3_000

/** Once per task, in the format of `ralph watch` messages. If delivery fails, the next call sends it again. */
export async function tellTimeout({ store, home, note }: VaultDesk, row: TaskRow, loop: Loop): Promise<void> {
  const address = webhookOf(home, row.vault, note)
  if (row.record.told || address === undefined) return
  const [text, status] = [timeoutMessage(loop), statusOfTask(loop, row.record)]
  const body = { title: `ralph: ${row.id} ${status}`, text, type: 'task', task_id: row.id, status, sentence: text }
  const trouble = await postWebhook(address, body, { patienceMs: WEBHOOK_MS })
  if (trouble === undefined) await store.tasks.change(row, { told: true })
  else note(trouble)
}

/** A task's end counts even if a config file is invalid by now. */
function webhookOf(home: string, vault: string, note: (text: string) => void): string | undefined {
  try {
    return loadConfig(home, vault).notify_webhook
  } catch (cause) {
    if (!(cause instanceof RalphError)) throw cause
    note(cause.message)
    return undefined
  }
}
