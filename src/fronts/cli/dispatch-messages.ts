/** Notifies the user that an agent is done, stuck, or needs them: bell, desktop, webhook. */
import { setTimeout as sleep } from 'node:timers/promises'
import { mask } from '../../host/mask.ts'
import { postWebhook } from '../../host/webhook.ts'
import type { Listed } from '../../operations/agents.ts'
import type { Context } from './context.ts'
import { agentJson } from './dispatch-view.ts'
import { notifyText } from './notify.ts'

export type Messages = {
  send(agent: Listed, webhook: string | undefined): void
  /** Waits briefly for pending notifications, because the user is quitting. */
  end(): Promise<void>
}

/** Delays between the attempts to reach a webhook. */
const PAUSES_MS = [1_000, 5_000]
const LEAVING_MS = 2_000

/** `tell`: prints what was sent. */
type Telling = { desktop: boolean; tell(text: string, value: object): void }

export function openMessages(context: Context, { desktop, tell }: Telling): Messages {
  const open = new Set<Promise<unknown>>()
  const leaving = new AbortController()
  return {
    send(agent, webhook) {
      const message = deliver(context, agent, { desktop, tell, webhook, stop: leaving.signal }).finally(() =>
        open.delete(message),
      )
      open.add(message)
    },
    async end() {
      const late = setTimeout(() => leaving.abort(), LEAVING_MS)
      await Promise.all(open)
      clearTimeout(late)
    },
  }
}

async function deliver(
  context: Context,
  agent: Listed,
  { desktop, tell, webhook, stop }: Telling & { webhook: string | undefined; stop: AbortSignal },
): Promise<void> {
  const { name, number, state } = agent
  const title = `ralph: ${number} [${name}] ${state}`
  const text = mask(agent.words)
  if (desktop) await notifyText({ title, text }, {}, { context })
  else context.out.bell()
  if (webhook === undefined) return
  const { tries, trouble } = await reach(webhook, { ...agentJson(agent), title, text }, stop)
  const what =
    trouble === undefined
      ? 'webhook notified.'
      : `${trouble} Gave up after ${tries === 1 ? '1 try' : `${tries} tries`}.`
  tell(`  ${number} [${name}] ${what}`, { type: 'notified', agent: name, state, webhook: trouble ?? 'ok' })
}

async function reach(
  webhook: string,
  body: object,
  stop: AbortSignal,
): Promise<{ tries: number; trouble: string | undefined }> {
  for (let tries = 1; ; tries++) {
    const trouble = await postWebhook(webhook, body, { stop })
    const ms = PAUSES_MS[tries - 1]
    if (trouble === undefined || ms === undefined) return { tries, trouble }
    await sleep(ms, undefined, { signal: stop }).catch(() => {}) // the user is quitting
    if (stop.aborted) return { tries, trouble }
  }
}
