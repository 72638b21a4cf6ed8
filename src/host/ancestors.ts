/** The ancestors of a process, as far as the system reports them. */
import { readFileSync } from 'node:fs'

/** `environment`: what it was started with, as `NAME=value`. Empty if we may not read it. */
export type Ancestor = { pid: number; environment: string[] }

/** The most that are followed: a process id that was just reused may lead in a circle. */
const MOST = 1_000

/** The process itself first, then its parent, up to the first of all. Empty without /proc. */
export function ancestors(of: number = process.pid): Ancestor[] {
  const found: Ancestor[] = []
  for (let pid = of; pid > 0 && found.length < MOST; ) {
    const status = readProc(pid, 'status')
    if (status === undefined) break
    found.push({ pid, environment: readProc(pid, 'environ')?.split('\0').filter(Boolean) ?? [] })
    pid = Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? 0)
  }
  return found
}

/** The values of a variable in these processes, the nearest first. */
export function inherited(name: string, above: readonly Ancestor[]): string[] {
  return above.flatMap(({ environment }) => valuesIn(environment, name))
}

/** The values that one of them was started with. */
export function valuesIn(environment: readonly string[], name: string): string[] {
  const start = `${name}=`
  return environment.flatMap((entry) => (entry.startsWith(start) ? [entry.slice(start.length)] : []))
}

/** Undefined if it is not on this system, has ended, or belongs to another user. */
function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
