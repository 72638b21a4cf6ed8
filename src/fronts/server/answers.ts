/** A request that carries a key is carried out once, however often it is sent. */
import { createHash } from 'node:crypto'
import { RalphError } from '../../error.ts'
import { isObject } from '../../formats/json-file.ts'
import type { AnswerRecords } from '../../host/store.ts'
import { Refusal } from './errors.ts'

/** `request`: what is asked for, as one text. `startedAt`: when this server began. */
export type Keyed = { key: string; request: string; startedAt: number }

/** A value as JSON that is the same in whatever order its fields came. */
export function inOneOrder(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

/** The answer as JSON: of `ask`, or of the first time. A request that failed did nothing, so that its key can be used again. */
export async function answerOnce(
  answers: AnswerRecords,
  { key, request, startedAt }: Keyed,
  ask: () => Promise<unknown>,
): Promise<string> {
  if (!/^[\x21-\x7e]{1,200}$/.test(key))
    throw new RalphError('input-invalid', 'Idempotency-Key must be 1 to 200 visible ASCII characters without spaces.')
  const known = await answers.begin(key, createHash('sha256').update(request).digest('hex'), startedAt)
  switch (known.kind) {
    case 'answered':
      return known.answer
    case 'reused':
      throw new Refusal('key-reused', 'This Idempotency-Key was used with another request.')
    case 'busy':
      throw new Refusal('key-busy', 'The first request with this Idempotency-Key is not answered yet.')
    case 'lost':
      throw new Refusal(
        'key-lost',
        'The server was killed while it worked on the first request with this Idempotency-Key. Nobody knows whether it was carried out.',
      )
    case 'new':
  }
  const answer = JSON.stringify((await orForget(ask)) ?? null)
  await answers.end(key, answer) // what was carried out keeps its key, also where this fails
  return answer

  async function orForget(work: typeof ask): Promise<unknown> {
    try {
      return await work()
    } catch (cause) {
      await answers.forget(key)
      throw cause
    }
  }
}
