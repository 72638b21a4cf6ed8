/** Which process holds a lease, so that others on the same machine see at once that it has ended. */
import { readIfThere } from '../files.ts'
import { bornOf, isGone } from '../pid.ts'

const BOOT = '/proc/sys/kernel/random/boot_id'

/** Null if the system does not say. */
export function bornHere(pid: number): string | null {
  const [boot, born] = [readIfThere(BOOT)?.trim(), bornOf(pid)]
  return boot === undefined || born === undefined ? null : `${boot} ${pid} ${born}`
}

/** False if it is alive, or if that is unknown: it is on another machine or container, or from an earlier boot. */
export function isGoneHere(text: unknown): boolean {
  const [, boot, pid, born] = /^(\S+) (\d+) (.+)$/.exec(String(text)) ?? []
  return born !== undefined && boot === readIfThere(BOOT)?.trim() && isGone(Number(pid), born)
}
