/** Tells a person who is elsewhere that an agent is done, stuck, or needs them: bell, desktop, webhook. */
import { maskSecrets } from '../../formats/secrets.ts'
import { postWebhook } from '../../host/webhook.ts'
import type { Listed } from '../../operations/agents.ts'
import type { Context } from './context.ts'
import { agentJson } from './dispatch-view.ts'
import { notifyText } from './notify.ts'

export type Messages = { send(agent: Listed, webhook: string | undefined): void; sent(): Promise<unknown> }

/** Between the tries to reach a webhook. */
const PAUSES_MS = [1_000, 5_000]

/** `tell`: shows what was sent. */
type Telling = { desktop: boolean; tell(text: string, value: object): void }

export function openMessages(context: Context, { desktop, tell }: Telling): Messages {
  const open = new Set<Promise<unknown>>()
  return {
    send(agent, webhook) {
      const message = deliver(context, agent, { desktop, tell, webhook }).finally(() => open.delete(message))
      open.add(message)
    },
    sent: () => Promise.all(open),
  }
}

async function deliver(
  context: Context,
  agent: Listed,
  { desktop, tell, webhook }: Telling & { webhook: string | undefined },
): Promise<void> {
  const { name, number, state } = agent
  const title = `ralph: ${number} [${name}] ${state}`
  const text = maskSecrets(agent.words)
  if (desktop) await notifyText({ title, text }, {}, { context })
  else if (context.out.live) context.out.write('\u0007')
  if (webhook === undefined) return
  const trouble = await reach(webhook, { ...agentJson(agent), title, text })
  const what = trouble === undefined ? 'webhook notified.' : `${trouble} Gave up after ${PAUSES_MS.length + 1} tries.`
  tell(`  ${number} [${name}] ${what}`, { type: 'notified', agent: name, state, webhook: trouble ?? 'ok' })
}

async function reach(webhook: string, body: object): Promise<string | undefined> {
  let trouble = await postWebhook(webhook, body)
  for (const ms of PAUSES_MS) {
    if (trouble === undefined) return undefined
    await new Promise((done) => setTimeout(done, ms).unref())
    trouble = await postWebhook(webhook, body)
  }
  return trouble
}
