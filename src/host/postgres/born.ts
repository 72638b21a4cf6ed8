/** Which process holds a lease, so that others of the same machine can tell at once that it is gone. */
import { readIfThere } from '../files.ts'
import { bornOf, isGone } from '../pid.ts'

const BOOT = '/proc/sys/kernel/random/boot_id'

/** Null where the system does not tell. */
export function bornHere(pid: number): string | null {
  const [boot, born] = [readIfThere(BOOT)?.trim(), bornOf(pid)]
  return boot === undefined || born === undefined ? null : `${boot} ${pid} ${born}`
}

/** False where it lives, and where that cannot be told: it is of another machine or container, or of an earlier boot. */
export function isGoneHere(told: unknown): boolean {
  const [, boot, pid, born] = /^(\S+) (\d+) (.+)$/.exec(String(told)) ?? []
  return born !== undefined && boot === readIfThere(BOOT)?.trim() && isGone(Number(pid), born)
}
