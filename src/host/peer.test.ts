import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { isLoopback, peerOf } from './peer.ts'

/** A server that somebody connects to. */
async function openDoor(host = '127.0.0.1'): Promise<{ port: number; visitor: Promise<Socket> }> {
  const server = createServer()
  server.listen(0, host)
  await once(server, 'listening')
  const visitor = once(server, 'connection').then(([socket]) => socket as Socket)
  onTestFinished(async () => {
    server.close()
    ;(await visitor).destroy()
  })
  return { port: (server.address() as { port: number }).port, visitor }
}

function connectionOf({ remoteAddress = '', remotePort = 0, localPort = 0 }: Socket): Parameters<typeof peerOf>[0] {
  return { remoteAddress, remotePort, localPort }
}

const here = process.platform === 'linux'

test.skipIf(!here)('finds the process at the other end', async () => {
  const { port, visitor } = await openDoor()
  const child = spawn(process.execPath, ['-e', `require('node:net').connect(${port}, '127.0.0.1')`])
  onTestFinished(() => void child.kill())
  expect(peerOf(connectionOf(await visitor))).toBe(child.pid)
})

test.skipIf(!here)('finds this process itself, also over IPv6 and other addresses of this machine', async () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).filter(({ scopeid = 0 }) => !scopeid))
  for (const host of new Set(['127.0.0.1', '127.0.0.2', ...own.map(({ address }) => address)])) {
    const { port, visitor } = await openDoor(host)
    const socket = connect(port, host)
    onTestFinished(() => void socket.destroy())
    expect(peerOf(connectionOf(await visitor))).toBe(process.pid)
  }
})

test.skipIf(!here)('a process that has hung up is gone', async () => {
  const { port, visitor } = await openDoor()
  const socket = connect(port, '127.0.0.1')
  const connection = connectionOf(await visitor)
  socket.resetAndDestroy()
  await once(await visitor, 'close').catch(() => {}) // it learns that the other end is closed
  expect(peerOf(connection)).toBe('gone')
})

test('nothing is known about another machine', () => {
  expect(peerOf({ remoteAddress: '192.0.2.1', remotePort: 1, localPort: 2 })).toBeUndefined()
})

test('a loopback address cannot be reached from elsewhere', () => {
  expect(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'].filter(isLoopback)).toHaveLength(4)
  expect(['0.0.0.0', '::', '128.0.0.1', '10.127.0.0', '127.0.0.1.nip.io', ''].filter(isLoopback)).toEqual([])
})
