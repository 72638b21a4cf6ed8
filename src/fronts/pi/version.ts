/** Which Pi this is, and so how it can drive a loop: `pi.on` silently accepts names of events that never come. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseObject } from './answer.ts'

/**
 * `boundary`: Pi asks before it settles (0.87). `settled`: it reports when it has settled (0.80.4).
 * `end`: it reports the end of a run, and may still retry by itself.
 */
export type Way = 'boundary' | 'settled' | 'end'

export function wayOf(version: string | undefined): Way {
  const [major = 0, minor = 0, patch = 0] = version?.split('.').map((part) => Number.parseInt(part, 10)) ?? [1]
  if (major > 0 || minor >= 87) return 'boundary'
  return minor > 80 || (minor === 80 && patch >= 4) ? 'settled' : 'end'
}

/** The version of the running Pi, found from its program file; a single binary has it alongside. */
export function findVersion(script: string | undefined, program: string): string | undefined {
  for (const start of [script, program]) {
    if (start === undefined || !existsSync(start)) continue
    for (let folder = dirname(realpathSync(start)); folder !== dirname(folder); folder = dirname(folder)) {
      const file = join(folder, 'package.json')
      if (!existsSync(file)) continue
      const { name, version } = parseObject(readFileSync(file, 'utf8').replaceAll('\n', ' '))
      if (typeof name === 'string' && /pi-coding-agent$/.test(name) && typeof version === 'string') return version
    }
  }
  return undefined
}

/** How long Pi may wait before it retries by itself, at the n-th error in a row; undefined: it has given up. */
export function retryDelayMs(settings: readonly string[], attempt: number): number | undefined {
  const retry = { enabled: true, maxRetries: 3, baseDelayMs: 2_000 }
  for (const file of settings) {
    if (!existsSync(file)) continue
    const { retry: set } = parseObject(readFileSync(file, 'utf8').replaceAll('\n', ' '))
    if (typeof set === 'object' && set !== null) Object.assign(retry, set)
  }
  if (!retry.enabled || attempt > retry.maxRetries) return undefined
  return retry.baseDelayMs * 2 ** (attempt - 1)
}
