/** Tells a person who is elsewhere that a loop has stopped: bell, desktop, webhook. */
import { spawn } from 'node:child_process'
import { type Loop, statusOf } from '../../engine/loop.ts'
import { findProgram } from '../../host/process.ts'
import type { Context } from './context.ts'
import { endingOf } from './story.ts'
import { loopEnd } from './view.ts'

export async function notify(loop: Loop, { context, webhook }: { context: Context; webhook?: string }): Promise<void> {
  const title = `ralph: loop ${loop.id} ${statusOf(loop)}`
  const { sentence } = endingOf(loop)
  if (context.out.live) context.out.write('\u0007')
  const desktop = desktopCommand(title, sentence, context)
  if (desktop)
    spawn(desktop.program, desktop.args, { stdio: 'ignore', detached: true })
      .on('error', () => {})
      .unref()
  if (webhook) await post(webhook, { title, text: sentence, ...loopEnd(loop) })
}

function desktopCommand(
  title: string,
  text: string,
  { cwd, env }: Context,
): { program: string; args: string[] } | undefined {
  if (findProgram('notify-send', cwd, env.PATH) && (env.DISPLAY || env.WAYLAND_DISPLAY))
    return { program: 'notify-send', args: ['--', title, text] }
  if (process.platform !== 'darwin') return undefined
  const script = 'on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run'
  return { program: 'osascript', args: ['-e', script, title, text] }
}

async function post(address: string, body: object): Promise<void> {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    })
    if (!answer.ok) process.stderr.write(`ralph: the webhook answered ${answer.status}.\n`)
  } catch (cause) {
    process.stderr.write(
      `ralph: the webhook could not be reached (${cause instanceof Error ? cause.message : cause}).\n`,
    )
  }
}
