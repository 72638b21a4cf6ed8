/** Summarizes what happened in a vault, and what a person should do now. */
import type { Briefing } from '../formats/briefing.ts'
import { given } from '../request/given.ts'
import { gatherBriefing } from '../vault/briefing.ts'
import type { Operation } from './operation.ts'
import { mustBeVault, openDesk, vaultFor } from './vault-place.ts'

export const briefVault: Operation<{ vault?: string; since: number }, Briefing> = {
  name: 'brief_vault',
  effect: 'read',
  summary:
    'Summarizes a vault since a given time: what was completed, what is stuck, what needs a person, what to do next.',
  async run(context, { vault: named, since }) {
    const vault = vaultFor(context, given({ named }))
    mustBeVault(context, vault)
    return gatherBriefing(openDesk(context, vault), since)
  },
}
