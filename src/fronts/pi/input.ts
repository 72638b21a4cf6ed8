/** What a person types that is no command: an answer, or something else than the loop. */
import { COMMANDS, type Desk, obey, untilOver } from './commands.ts'
import type { Context, Input } from './host.ts'

export function onInput(desk: Desk): void {
  const { pi, session, drive } = desk
  pi.on('input', async (event, context) => {
    if (event.source === 'extension') return undefined
    session.use(context)
    // Pi knows a command only by a blank behind its name.
    const [, word = '', args = ''] = /^\/([\w-]+)\s([\s\S]*)$/.exec(event.text) ?? []
    const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined
    if (command) await obey(desk, command.name, args, context)
    else if (drive.phase() === 'person') await untilOver(drive, context, drive.reply(event.text))
    else if (drive.isActive() && context.hasUI) await askWhether(desk, event, context)
    else return undefined
    return { action: 'handled' }
  })
}

async function askWhether({ pi, session, drive }: Desk, { text, images }: Input, context: Context): Promise<void> {
  const words = 'Yes ends the loop and sends your text. No lets it go on; your text goes back to the editor.'
  const isMeant = await session.dialog(context.ui.confirm('Ralph loop active. Cancel to start new task?', words))
  if (!isMeant) {
    context.ui.setEditorText(text)
    return
  }
  if (drive.isActive()) await drive.command('cancel', '')
  const content = images?.length ? [{ type: 'text', text }, ...images] : text
  // Sent while a run is being ended it would be stuck in a queue.
  void session
    .untilIdle()
    .then(() => pi.sendUserMessage(content, { expandPromptTemplates: true }))
    .catch(() => context.ui.setEditorText(text))
    .catch(() => undefined) // Pi has left the session
}
