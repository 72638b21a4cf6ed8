/** What a person types behind a `/`. */
import type { Answer, CommandName } from './answer.ts'
import type { Drive } from './drive.ts'
import type { Context, Pi } from './host.ts'
import type { Session } from './session.ts'

export type Desk = { pi: Pi; session: Session; drive: Drive }

export const COMMANDS: Readonly<Record<string, { name: CommandName; description: string }>> = {
  'ralph-loop': { name: 'loop', description: 'Work on a prompt again and again until it is proven done' },
  'cancel-ralph': { name: 'cancel', description: 'End the ralph loop of this session' },
  'ralph-help': { name: 'help', description: 'How ralph loops work' },
  'ralph-status': { name: 'status', description: 'Where the ralph loop of this session is' },
  'ralph-pause': { name: 'pause', description: 'Pause the ralph loop after this turn (ESC: at once)' },
  'ralph-steer': { name: 'steer', description: 'Tell the next iteration something, without a pause' },
  'ralph-resume': { name: 'resume', description: 'Go on with a paused ralph loop' },
}

export async function obey({ session, drive }: Desk, name: CommandName, args: string, context: Context): Promise<void> {
  session.use(context)
  const told = drive.command(name, args)
  await (name === 'loop' || name === 'resume' ? untilOver(drive, context, told) : told)
}

/** Without a person to look on, Pi ends when its command does: then it lasts as long as the loop, and its exit code tells how it went. */
export async function untilOver(drive: Drive, { hasUI }: Context, begun: Promise<Answer | undefined>): Promise<void> {
  const told = await begun
  if (hasUI) return
  const end = told && (await drive.over())
  if (end?.status !== 'completed') process.exitCode = 1
}
