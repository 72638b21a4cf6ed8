/** Finds the process behind a request, for operations reserved for a person. */
import type { HttpBindings } from '@hono/node-server'
import { peerOf } from '../../host/peer.ts'
import type { Caller } from '../../operations/operation.ts'

/** Looked up on demand: few operations need it, and the lookup takes some milliseconds. */
export function callerOf({ incoming }: Pick<HttpBindings, 'incoming'>): () => Caller {
  const { remoteAddress, remotePort, localPort } = incoming.socket
  return () => {
    if (remoteAddress === undefined || remotePort === undefined || localPort === undefined) return 'gone'
    return peerOf({ remoteAddress, remotePort, localPort })
  }
}
