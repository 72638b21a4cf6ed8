/** Finds the process behind a request, for what only a person may do. */
import type { HttpBindings } from '@hono/node-server'
import { peerOf } from '../../host/peer.ts'
import type { Caller } from '../../operations/operation.ts'

/** Looked for when it is asked for: few operations do, and to look takes some milliseconds. */
export function callerOf({ incoming }: Pick<HttpBindings, 'incoming'>): () => Caller {
  const { remoteAddress, remotePort, localPort } = incoming.socket
  return () => {
    if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return 'gone'
    return peerOf({ remoteAddress, remotePort, localPort })
  }
}
