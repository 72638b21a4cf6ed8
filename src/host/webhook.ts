/** Calls the person's webhook. */

/** Returns what went wrong, as a sentence. */
export async function postWebhook(
  address: string,
  body: object,
  { patienceMs = 10_000, stop }: { patienceMs?: number; stop?: AbortSignal } = {},
): Promise<string | undefined> {
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'manual', // elsewhere it would arrive without its body
      signal: AbortSignal.any([AbortSignal.timeout(patienceMs), ...(stop ? [stop] : [])]),
    })
    return answer.ok ? undefined : `the webhook answered ${answer.status}.`
  } catch (cause) {
    return `the webhook could not be reached (${cause instanceof Error ? cause.message : cause}).`
  }
}
