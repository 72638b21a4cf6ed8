/** Asks the person whether an agent that the repository brings along may be used. */
import type { Answer } from './answer.ts'
import type { Session } from './session.ts'

const TRUST = 'Trust it as it is now'
/** As many letters of an agent's file as a dialog can show. */
const SHOWN = 1_500

/** The mark of what they agreed to. */
export async function agreed(
  session: Pick<Session, 'choose'>,
  { path, text, mark }: NonNullable<Answer['trust']>,
): Promise<string | undefined> {
  const question = `${path} comes with this repository. It decides what the agent is told and which tools it has:\n\n${text.trim().slice(0, SHOWN)}`
  return (await session.choose(question, [TRUST, 'No'])) === TRUST ? mark : undefined
}
