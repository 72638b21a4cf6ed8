/** Typed text that is not a command: an answer, or something unrelated to the loop. */
import { COMMANDS, type Desk, obey, untilOver } from './commands.ts'
import type { Context, Input } from './host.ts'

export function onInput(desk: Desk): void {
  const { pi, session, drive } = desk
  pi.on('input', async (event, context) => {
    if (event.source === 'extension') return undefined
    session.use(context)
    // Pi recognizes a command only with a blank after its name.
    const [, word = '', args = ''] = /^\/([\w-]+)\s([\s\S]*)$/.exec(event.text) ?? []
    const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
    if (command) await obey(desk, command.name, args, context)
    else if (drive.phase() === 'person') await untilOver(drive, context, drive.reply(event.text))
    else if (drive.isActive() && context.hasUI) await askWhatFor(desk, event, context)
    else return undefined
    return { action: 'handled' }
  })
}

const QUESTION = 'Ralph loop active. What should happen to your text? (ESC: back to the editor)'
const STEER = 'Steer: send it to the next iteration'
const PAUSE = 'Pause the loop and send it'
const END = 'End the loop and send it'

async function askWhatFor(desk: Desk, { text, images }: Input, context: Context): Promise<void> {
  const { session, drive } = desk
  const close = new AbortController()
  void drive.ended().then(() => close.abort())
  const chosen = await session.dialog(context.ui.select(QUESTION, [STEER, PAUSE, END], { signal: close.signal }))
  if (chosen === undefined) context.ui.setEditorText(text)
  else if (!drive.isActive()) send(desk, { text, images }, context)
  else if (chosen === STEER) await drive.command('steer', text)
  else {
    await drive.breakOff(chosen === PAUSE ? 'pause' : 'cancel')
    send(desk, { text, images }, context)
  }
}

function send(
  { pi, session }: Desk,
  { text, images }: Pick<Input, 'text'> & { images: Input['images'] },
  context: Context,
): void {
  const content = images?.length ? [{ type: 'text', text }, ...images] : text
  // Sent while a run is being stopped, it would get stuck in a queue.
  void session
    .untilIdle()
    .then(() => pi.sendUserMessage(content, { expandPromptTemplates: true }))
    .catch(() => context.ui.setEditorText(text))
    .catch(() => undefined) // Pi has left the session
}
