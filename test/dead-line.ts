/** A connection to a server that can go dead: clients receive nothing more, and are not disconnected. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Line = { port: number; lead(to: number): void; die(): void; close(): void }

export async function openLine(): Promise<Line> {
  const open = new Set<Socket>()
  let to = 0
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one)
      one.on('data', (bytes) => open.has(one) && other.write(bytes))
      one.on('end', () => open.has(one) && other.end())
      one.on('error', () => other.destroy())
      one.on('close', () => open.delete(one))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      to = port
    },
    die: () => open.clear(),
    close: () => void server.close(),
  }
}
