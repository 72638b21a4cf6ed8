/** Loops that an older ralph has stored, in the words of today. */
import type { Loop, Next, Owner, Said, Spec, Tally, Work } from './loop.ts'

type OldWork = Work & { vault?: { path: string; state: string }; project?: { folder: string } }
type OldTally = Omit<Tally, 'said'> & { said: (string | Said)[] }
type OldLoop = { spec: Spec & { work: OldWork }; tally: OldTally; next: Next }

/** The whole loop. One that is in the words of today stays as it is. */
export function upgradeLoop({ spec, tally, next }: OldLoop): Omit<Loop, 'id'> {
  const { held, ...counts } = tally
  const { owner } = upgradeSpec(spec).work
  return {
    spec: upgradeSpec(spec),
    tally: {
      ...counts,
      said: tally.said.map(upgradeSaid),
      ...(tally.ask ? { ask: { ...tally.ask, ...aboutOf(owner, tally.ask.words) } } : {}),
      ...(held ? { held: upgradeNext(held, owner) } : {}),
    },
    next: upgradeNext(next, owner),
  }
}

/** Tasks of vaults and projects once stood in fields of their own. */
export function upgradeSpec(spec: Spec & { work: OldWork }): Spec {
  const { vault, project, ...work } = spec.work
  if (vault) {
    const owner = { ...vault, kind: 'vault' as const }
    return { ...spec, work: { ...work, owner, faces: [`${vault.path}/${vault.state}`] } }
  }
  if (!project) return { ...spec, work }
  const owner = { ...project, kind: 'project' as const }
  return { ...spec, work: { ...work, owner, faces: [project.folder.slice(0, project.folder.lastIndexOf('/'))] } }
}

const PERSON = 'A person says: '

function upgradeSaid(said: string | Said): Said {
  if (typeof said !== 'string') return said
  return said.startsWith(PERSON) ? { by: 'person', words: said.slice(PERSON.length) } : { by: 'ralph', words: said }
}

function upgradeNext(next: Next, owner: Owner | undefined): Next {
  if (next.kind === 'wait') return { ...next, ...aboutOf(owner, next.question) }
  if (next.kind === 'turn' && !next.heard) {
    const heard = next.feedback.filter((text) => text.startsWith(PERSON)).map((text) => text.slice(PERSON.length))
    return heard.length > 0 ? { ...next, heard } : next
  }
  const isRejected = next.kind === 'halt' && next.sentence.startsWith('Cancelled by you, who rejected it')
  return isRejected ? { ...next, rejected: true } : next
}

/** What a vault once asked was known by its sentence alone. */
function aboutOf(owner: Owner | undefined, question = ''): { about?: string } {
  if (owner?.kind !== 'vault') return {}
  if (question.endsWith(' waits in Pending_Approval for your approval.')) return { about: 'approval' }
  return question.endsWith(' is in no folder of the vault any more.') ? { about: 'gone' } : {}
}
