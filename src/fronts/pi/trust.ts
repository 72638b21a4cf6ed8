/** Asks the user whether an agent that comes with the repository may be used. */
import type { Answer } from './answer.ts'
import type { Session } from './session.ts'

const TRUST = 'Trust this version'
/** How many characters of an agent's file a dialog can show. */
const SHOWN = 1_500

/** The mark of what they agreed to. */
export async function agreed(
  session: Pick<Session, 'choose'>,
  { path, text, mark }: NonNullable<Answer['trust']>,
): Promise<string | undefined> {
  const question = `${path} comes with this repository. It sets the agent's instructions and tools:\n\n${text.trim().slice(0, SHOWN)}`
  return (await session.choose(question, [TRUST, 'No'])) === TRUST ? mark : undefined
}
