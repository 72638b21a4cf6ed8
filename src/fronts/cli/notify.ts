/** Notifies the user that a loop or a project has stopped: bell, desktop, webhook. */
import { spawn } from 'node:child_process'
import { type Loop, statusOf } from '../../engine/loop.ts'
import { findOwnProgram } from '../../host/own-program.ts'
import { postWebhook } from '../../host/webhook.ts'
import { standingOf } from '../../operations/standing.ts'
import type { Context } from './context.ts'
import { loopEnd } from './view.ts'

export type Reaching = { context: Context; webhook?: string }

export async function notify(loop: Loop, reaching: Reaching): Promise<void> {
  const title = `ralph: loop ${loop.id} ${statusOf(loop)}`
  await notifyText({ title, text: standingOf(loop).sentence }, loopEnd(loop), reaching)
}

/** `more`: extra fields for the webhook. */
export async function notifyText(
  { title, text }: { title: string; text: string },
  more: object,
  { context, webhook }: Reaching,
): Promise<void> {
  context.out.bell()
  const desktop = desktopCommand(title, text, context)
  if (desktop)
    spawn(desktop.program, desktop.args, { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref()
  const trouble = webhook && (await postWebhook(webhook, { title, text, ...more }))
  if (trouble) context.err.write(`ralph: ${trouble}\n`)
}

function desktopCommand(
  title: string,
  text: string,
  { cwd, env }: Context,
): { program: string; args: string[] } | undefined {
  const program = findOwnProgram('notify-send', cwd, env.PATH)
  if (program && (env.DISPLAY || env.WAYLAND_DISPLAY)) return { program, args: ['--', title, text] }
  if (process.platform !== 'darwin') return undefined
  const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run'
  return { program: 'osascript', args: ['-e', script, title, text] }
}
