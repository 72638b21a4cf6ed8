/** Turns any failure into a message for the user and lets the session continue. */
import { isRalphError } from '../../error.ts'
import { unlessShortage } from '../../host/plain-words.ts'
import { type Answer, say } from '../../session/answer.ts'

export async function failOpen(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work()
  } catch (thrown) {
    const cause = unlessShortage(thrown)
    if (isRalphError(cause)) return say(`ralph: ${cause.message}`, 'error')
    process.stderr.write(`${cause instanceof Error ? cause.stack : cause}\n`)
    const words = cause instanceof Error ? cause.message : String(cause)
    return say(`ralph: this is a bug in ralph; the session continues without it: ${words}`, 'error')
  }
}
