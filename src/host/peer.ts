/** Which process on this machine has the other end of a connection, as far as the system reports it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { networkInterfaces } from 'node:os'

/** The connection as the called side sees it. */
export type Connection = { remoteAddress: string; remotePort: number; localPort: number }

/**
 * The id of the process at the other end. `gone`: it was on this machine and has hung up. Undefined: it is on another
 * machine, belongs to a user whose processes we may not see, or the system does not say (only Linux does).
 */
export function peerOf(connection: Connection): number | 'gone' | undefined {
  const sockets = readSockets()
  if (!sockets || !isOfThisMachine(connection.remoteAddress)) return undefined
  const inode = sockets.find((one) => isOtherEnd(one, connection))?.inode
  // A process that hides what it holds may be the end of a person's tunnel: sshd does.
  return inode ? holderOf(`socket:[${inode}]`) : 'gone'
}

type Socket = { address: string; port: number; peerPort: number; inode: number }

/** Undefined without /proc. */
function readSockets(): Socket[] | undefined {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => {
    try {
      return [readFileSync(path, 'latin1')]
    } catch {
      return [] // without IPv6 there is only one
    }
  })
  if (tables.length === 0) return undefined
  return tables.flatMap((table) => table.split('\n').slice(1).filter(Boolean).map(parseSocket))
}

/** `sl local_address rem_address st tx:rx tr:tm retrnsmt uid timeout inode …`, addresses as `0100007F:115C`. */
function parseSocket(line: string): Socket {
  const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/)
  const [address = '', port = ''] = local.split(':')
  return {
    address,
    port: Number.parseInt(port, 16),
    peerPort: Number.parseInt(remote.split(':')[1] ?? '', 16),
    inode: Number(inode),
  }
}

function isOtherEnd(
  { address, port, peerPort }: Socket,
  { remoteAddress, remotePort, localPort }: Connection,
): boolean {
  return port === remotePort && peerPort === localPort && address.endsWith(inKernelWords(remoteAddress))
}

/**
 * The kernel prints each four bytes of an address in the byte order of this machine. For anything but IPv4, the port
 * decides.
 */
function inKernelWords(address: string): string {
  const [, ...bytes] = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address) ?? []
  return bytes
    .reverse()
    .map((byte) => Number(byte).toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase()
}

/** A machine can also reach itself through its own addresses. */
function isOfThisMachine(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return isLoopback(address) || own.some((one) => one.address === plain)
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address)
}

function holderOf(socket: string): number | undefined {
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name) && linksOf(`/proc/${name}/fd`).includes(socket)) return Number(name)
  }
  return undefined
}

function linksOf(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => linkAt(`${folder}/${name}`))
  } catch {
    return [] // it has ended, or is not visible
  }
}

function linkAt(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed meanwhile
  }
}
