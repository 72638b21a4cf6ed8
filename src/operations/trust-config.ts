/** A person agrees to configuration that a loop changed. */
import { lookAtLeft } from '../drive/look-at-settings.ts'
import { trustConfigs } from '../host/config-trust.ts'
import { refuseBelowTurn } from './below-turn.ts'
import type { Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

/** `paths`: what counts from now on; none, where nothing was in doubt. */
export const trustConfig: Operation<{ dir?: string }, { dir: string; paths: string[] }> = {
  name: 'trust_config',
  effect: 'write',
  summary: 'Accepts configuration that a loop changed, so that the next loop in the folder obeys it.',
  person: true,
  async run(context, { dir: asked }) {
    await refuseBelowTurn(context)
    const dir = workFolder(context, asked)
    await lookAtLeft(context.store(), context.home, dir)
    return { dir, paths: trustConfigs(context.home, dir) }
  },
}
