/** The processes that one comes from, as far as the system tells. */
import { readFileSync } from 'node:fs'

/** `environment`: what it was started with, as `NAME=value`. Empty where that is not for us to read. */
export type Ancestor = { pid: number; environment: string[] }

/** More are none: an id that was given out again in this moment may lead in a circle. */
const MOST = 1_000

/** That process first, then its parent, up to the first of all. Empty where there is no /proc. */
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

/** The values of a variable there, the nearest first. */
export function inherited(name: string, above: readonly Ancestor[]): string[] {
  return above.flatMap(({ environment }) => valuesIn(environment, name))
}

/** Those that one of them was started with. */
export function valuesIn(environment: readonly string[], name: string): string[] {
  const start = `${name}=`
  return environment.flatMap((entry) => (entry.startsWith(start) ? [entry.slice(start.length)] : []))
}

/** Undefined when it is not on this system, has ended, or belongs to somebody else. */
function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return undefined
  }
}
