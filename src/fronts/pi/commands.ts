/** The slash commands. */
import type { Answer, CommandName } from './answer.ts'
import type { Drive } from './drive.ts'
import type { Context, Pi } from './host.ts'
import type { Session } from './session.ts'

export type Desk = { pi: Pi; session: Session; drive: Drive }

export const COMMANDS: Readonly<Record<string, { name: CommandName; description: string }>> = {
  'ralph-loop': { name: 'loop', description: 'Work on a prompt in a loop until it is proven done' },
  'cancel-ralph': { name: 'cancel', description: "End this session's ralph loop" },
  'ralph-help': { name: 'help', description: 'Explain how ralph loops work' },
  'ralph-status': { name: 'status', description: "Show the state of this session's ralph loop" },
  'ralph-pause': { name: 'pause', description: 'Pause the ralph loop after this turn (ESC: at once)' },
  'ralph-steer': { name: 'steer', description: 'Tell the next iteration something without pausing' },
  'ralph-resume': { name: 'resume', description: 'Resume a paused ralph loop' },
}

export async function obey({ session, drive }: Desk, name: CommandName, args: string, context: Context): Promise<void> {
  session.use(context)
  const told = drive.command(name, args)
  await (name === 'loop' || name === 'resume' ? untilOver(drive, context, told) : told)
}

/** Without an interactive user, Pi exits when its command does: the command then lasts as long as the loop, and the exit code says how it went. */
export async function untilOver(drive: Drive, { hasUI }: Context, begun: Promise<Answer | undefined>): Promise<void> {
  const told = await begun
  if (hasUI) return
  const end = told && (await drive.over())
  if (end?.status !== 'completed') process.exitCode = 1
}
