/** A person agrees to configuration that a loop changed. */
import { lookAtLeft } from '../drive/look-at-settings.ts'
import { trustConfigs } from '../host/config-trust.ts'
import { refuseBelowTurn } from './below-turn.ts'
import type { Context } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** `paths`: what it agreed to; none, where nothing was in doubt. */
export async function trustConfig(
  context: Context,
  { dir }: { dir?: string },
): Promise<{ dir: string; paths: string[] }> {
  await refuseBelowTurn(context)
  const folder = workFolder(context, dir)
  await lookAtLeft(context.store(), context.home, folder)
  return { dir: folder, paths: trustConfigs(context.home, folder) }
}
