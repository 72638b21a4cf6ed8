/** The owners of loops: one row a kind. */

import { paneRules } from '../dispatch/owner.ts'
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop, OwnerKind } from '../engine/loop.ts'
import { projectRules } from '../project/owner.ts'
import { vaultRules } from '../vault/owner.ts'

const personRules: OwnerRules = {
  again: () => 'Start a new one with `ralph run`.',
}

const OWNERS: Readonly<Record<OwnerKind, OwnerRules>> = {
  person: personRules,
  // Outside of its session a loop is its person's.
  session: personRules,
  project: projectRules,
  vault: vaultRules,
  pane: paneRules,
}

export function ownerOf({ spec }: Pick<Loop, 'spec'>): OwnerRules {
  return OWNERS[spec.work.owner?.kind ?? 'person']
}
