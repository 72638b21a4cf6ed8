/** Starts listening: the address and port, and the names that the server is known by there. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { RalphError } from '../../error.ts'
import { isLoopback } from '../../host/peer.ts'
import { codeOf } from '../../host/plain-words.ts'
import type { Doors } from './guard.ts'

/** `port`: absent: the first free one from 4444 on; 0: any free one. `allowHosts`: names other than those of this machine. */
export type Address = { host: string; port?: number; allowHosts: readonly string[] }

export const DEFAULT_PORT = 4444
const TRIES = 20

/** Access from other machines must be intended. */
export function checkAddress({ host, allowHosts }: Address): void {
  if (isIP(host) === 0) throw new RalphError('usage', `--host must be an IP address such as 127.0.0.1, got "${host}".`)
  if (!isLoopback(host) && allowHosts.length === 0)
    throw new RalphError(
      'usage',
      `${host} can be reached from other machines. Name the host that they will use: --allow-host NAME. Or omit --host.`,
    )
  const odd = allowHosts.find((name) => !/^(\[[\da-f:]+\]|[\w.-]+)(:\d{1,5})?$/i.test(name))
  if (odd !== undefined)
    throw new RalphError(
      'usage',
      `--allow-host must be a name such as ralph.example or ralph.example:8443, got "${odd}".`,
    )
}

/** The port it listens on. */
export async function listen(server: Server, { host, port }: Address): Promise<number> {
  const tries = port === undefined ? TRIES : 1
  for (let n = 0; ; n++) {
    const wanted = (port ?? DEFAULT_PORT) + n
    try {
      server.listen({ host, port: wanted, exclusive: true })
      await once(server, 'listening')
      return (server.address() as AddressInfo).port
    } catch (cause) {
      if (codeOf(cause) === 'EADDRINUSE' && n + 1 < tries) continue
      throw inWords(cause, host, wanted)
    }
  }
}

function inWords(cause: unknown, host: string, port: number): unknown {
  switch (codeOf(cause)) {
    case 'EADDRINUSE':
      return new RalphError('port-taken', `Port ${port} on ${host} is in use. Choose another one with --port P.`, {
        cause,
      })
    case 'EACCES':
      return new RalphError('port-taken', `Permission denied for port ${port}. Choose one above 1023 with --port P.`, {
        cause,
      })
    case 'EADDRNOTAVAIL':
      return new RalphError('usage', `${host} is not an address of this machine.`, { cause })
    default:
      return cause
  }
}

/** A browser sends a name with its port, except for the default port of the scheme. */
export function hostsOf({ host, allowHosts }: Address, port: number): Doors['hosts'] {
  const names = ['127.0.0.1', 'localhost', '[::1]', ...(isLoopback(host) ? [inUrl(host)] : [])]
  const own = names.flatMap((name) => (port === 80 ? [name] : [`${name}:${port}`]))
  const allowed = allowHosts
    .map((name) => name.toLowerCase())
    .flatMap((name) => (/:\d+$/.test(name) ? [name] : [name, `${name}:${port}`]))
  return new Map<string, readonly string[]>([
    ...allowed.map((name) => [name, [`http://${name}`, `https://${name}`]] as const),
    ...own.map((name) => [name, [`http://${name}`]] as const),
  ])
}

/** Its address for use from this machine. */
export function urlAt({ host, allowHosts: [named = host] }: Address, port: number): string {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  const name = everywhere[host] ?? (isLoopback(host) ? inUrl(host) : named)
  return `http://${/:\d+$/.test(name) ? name : `${name}:${port}`}/`
}

/** An IP address as browsers write it. */
function inUrl(host: string): string {
  return new URL(`http://${isIP(host) === 6 ? `[${host}]` : host}`).hostname
}
