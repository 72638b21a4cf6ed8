/** The owners of loops: one row per kind. */

import { boardRules } from '../board/owner.ts'
import { paneRules } from '../dispatch/owner.ts'
import type { OwnerRules } from '../drive/owner.ts'
import type { Loop, OwnerKind } from '../engine/loop.ts'
import { fleetRules } from '../fleet/owner.ts'
import { projectRules } from '../project/owner.ts'
import { vaultRules } from '../vault/owner.ts'

const personRules: OwnerRules = {
  again: ({ id, next }) =>
    next.kind === 'complete'
      ? `Continue from its work: ralph fork ${id} · or start a new one with \`ralph run\`.`
      : `Retry it: ralph retry ${id} · or start a new one with \`ralph run\`.`,
}

const OWNERS: Readonly<Record<OwnerKind, OwnerRules>> = {
  person: personRules,
  // Outside its session, a loop belongs to its user.
  session: personRules,
  project: projectRules,
  vault: vaultRules,
  pane: paneRules,
  board: boardRules,
  fleet: fleetRules,
}

export function ownerOf({ spec }: Pick<Loop, 'spec'>): OwnerRules {
  return OWNERS[spec.work.owner?.kind ?? 'person']
}
