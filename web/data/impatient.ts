/** Requests to the server that are given up when no answer arrives, so that they can be retried on another connection. */

const PATIENCE_MS = 30_000

/** A request that changes something is never given up: it may take long, and may have been carried out. */
export const impatientFetch: typeof fetch = async (url, init = {}) => {
  if (init.method !== 'GET') return fetch(url, init)
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), PATIENCE_MS)
  try {
    const answer = await fetch(url, {
      ...init,
      signal: AbortSignal.any([late.signal, ...(init.signal ? [init.signal] : [])]),
    })
    return new Response(await answer.arrayBuffer(), answer)
  } finally {
    clearTimeout(timer)
  }
}
