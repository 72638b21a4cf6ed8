/** A request with a key is carried out once, however often it is sent. */
import { createHash } from 'node:crypto'
import { RalphError } from '../../error.ts'
import { isObject } from '../../formats/json-file.ts'
import type { AnswerRecords } from '../../host/store.ts'
import { Refusal } from './errors.ts'

/** `request`: the request as one string. `startedAt`: when this server started. */
export type Keyed = { key: string; request: string; startedAt: number }

/** A value as JSON, independent of the order of its fields. */
export function inOneOrder(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  )
}

/** The answer as JSON, from `ask` or from the first time. A failed request did nothing, so its key can be used again. */
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
      throw new Refusal('key-reused', 'This Idempotency-Key was already used with a different request.')
    case 'busy':
      throw new Refusal('key-busy', 'The first request with this Idempotency-Key is still in progress.')
    case 'lost':
      throw new Refusal(
        'key-lost',
        'The server was killed during the first request with this Idempotency-Key. It may or may not have been carried out.',
      )
    case 'new':
  }
  const answer = JSON.stringify((await orForget(ask)) ?? null)
  await answers.end(key, answer) // a completed request keeps its key even if this fails
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
