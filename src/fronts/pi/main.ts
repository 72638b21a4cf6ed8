/** The Pi extension: Pi's commands and events → the drive. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal } from './board.ts'
import { renderCard } from './card.ts'
import { COMMANDS, obey } from './commands.ts'
import { openDrive } from './drive.ts'
import { openProgram } from './hook-program.ts'
import type { Pi } from './host.ts'
import { onInput } from './input.ts'
import { CUSTOM_TYPE, leadWithSystem, remember } from './memory.ts'
import { onRuns } from './runs.ts'
import { openSession } from './session.ts'

/** What the previous session has to say in the next one. Pi reloads this file for every session. */
const farewells: { ralphFarewell?: string } = globalThis as object

/** Pi draws a session after announcing it, and clears anything shown before that. */
const SHOWN_MS = 300

/** As old and new terminals send it. */
const ESCAPES = ['\x1b', '\x1b[27u', '\x1b[27;1u', '\x1b[27;1:1u']

// biome-ignore lint/style/noDefaultExport: Pi asks for one
export default function ralph(pi: Pi): void {
  if (process.env.RALPH_LOOP_ID) return // an agent inside a loop has no loop of its own
  const program = openProgram(process.env)
  const session = openSession(pi)
  const drive = openDrive(session, program)
  const desk = { pi, session, drive }
  let unlisten: (() => void) | undefined

  pi.registerMessageRenderer(CUSTOM_TYPE, renderCard)
  for (const [word, { name, description }] of Object.entries(COMMANDS))
    pi.registerCommand(word, { description, handler: (args, context) => obey(desk, name, args, context) })
  onInput(desk)
  onRuns(desk)

  pi.on('session_start', async (_, context) => {
    session.use(context)
    // While the agent works, ESC belongs to Pi and ends the turn. While ralph itself works, Pi would not report it.
    if (isTerminal(context))
      unlisten = context.ui.onTerminalInput((key) =>
        ESCAPES.includes(key) && !session.hasDialog() ? drive.escape() : undefined,
      )
    const farewell = farewells.ralphFarewell
    delete farewells.ralphFarewell
    // A new session has no loop, and without this folder no session has one.
    const mayHave = context.sessionManager.getEntries().length > 0 && existsSync(join(program.home, 'armed'))
    const greet = async () => {
      if (context.hasUI) await sleep(SHOWN_MS, undefined, { ref: false })
      if (farewell) session.say('info', farewell)
      if (mayHave) await drive.find()
    }
    const greeted = greet()
    if (!context.hasUI) await greeted
  })
  pi.on('session_shutdown', async ({ reason }) => {
    unlisten?.()
    const farewell = await drive.leave()
    // After a reload the loop is found again.
    if (farewell && reason !== 'quit' && reason !== 'reload') farewells.ralphFarewell = farewell
  })
  pi.on('context', ({ messages }) => {
    const kept = remember(messages, drive.isFresh())
    return kept && { messages: kept }
  })
  pi.on('context_with_system', ({ messages }, context) => {
    const led = drive.isActive() ? leadWithSystem(messages, () => context.getSystemPrompt()) : undefined
    return led && { messages: led }
  })
}
