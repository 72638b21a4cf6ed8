/** Loads the configuration for a new loop in a folder, unless a loop changed it and no person has trusted it since. */
import { lookAtLeft } from '../drive/look-at-settings.ts'
import type { Config } from '../formats/config.ts'
import { loadConfig } from '../host/config.ts'
import { mustBeTrusted } from '../host/config-trust.ts'
import type { Context } from './operation.ts'

export async function openConfig({ home, store }: Pick<Context, 'home' | 'store'>, dir: string): Promise<Config> {
  await mustObey({ home, store }, dir)
  return loadConfig(home, dir)
}

/** Throws if a loop changed it and no person has trusted it. */
export async function mustObey({ home, store }: Pick<Context, 'home' | 'store'>, dir: string): Promise<void> {
  await lookAtLeft(store(), home, dir)
  mustBeTrusted(home, dir)
}
