/** Converts loops stored by older versions. */
import type { Fact, Finding, Grade, Loop, Next, Owner, Said, Spec, Tally, Work } from './loop.ts'

type OldWork = Work & { vault?: { path: string; state: string }; project?: { folder: string } }
type OldTally = Omit<Tally, 'said' | 'findings'> & { said: (string | Said)[]; findings?: (string | Finding)[] }
type OldLoop = { spec: Spec & { work: OldWork }; tally: OldTally; next: Next }

/** Converts a loop. A current one stays as it is. */
export function upgradeLoop({ spec, tally, next }: OldLoop): Omit<Loop, 'id'> {
  const { held, ...counts } = tally
  const { owner } = upgradeSpec(spec).work
  return {
    spec: upgradeSpec(spec),
    tally: {
      ...counts,
      said: tally.said.map(upgradeSaid),
      findings: (tally.findings ?? []).map(upgradeFinding),
      ...(tally.ask ? { ask: { ...tally.ask, ...aboutOf(owner, tally.ask.words) } } : {}),
      ...(held ? { held: upgradeNext(held, owner) } : {}),
    },
    next: upgradeNext(next, owner),
  }
}

/** Tasks of vaults and projects once had their own fields. */
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

type Story = { spec: Spec & { work: OldWork }; facts: readonly Fact[]; graded?: true | undefined }

/**
 * The story of a loop, for replaying it. Before grades, ralph ran neither a baseline nor experiments, so none are
 * invented for those loops.
 */
export function upgradeStory({ spec, facts, graded }: Story): { spec: Spec; facts: Fact[] } {
  const { work, ...asked } = upgradeSpec(spec)
  return {
    spec: graded ? { ...asked, work } : { ...asked, proof: 'off', work: { ...work, baselineMinutes: 0 } },
    facts: facts.map((fact) =>
      fact.kind === 'checked' ? { ...fact, findings: fact.findings.map(upgradeFinding) } : fact,
    ),
  }
}

const PERSON = 'A person says: '

/** Grades once only said whether there were checks. */
const OLDER: Partial<Record<Grade, string>> = {
  verified: 'All checks passed; an older version of ralph did not run them before the loop began.',
  claimed: 'There was no check, so the agent was taken at its word.',
}

function upgradeSaid(said: string | Said): Said {
  if (typeof said !== 'string') return said
  return said.startsWith(PERSON) ? { by: 'person', words: said.slice(PERSON.length) } : { by: 'ralph', words: said }
}

function upgradeFinding(finding: string | Finding): Finding {
  return typeof finding === 'string' ? { kind: 'noted', path: '', words: finding } : finding
}

function upgradeNext(next: Next, owner: Owner | undefined): Next {
  if (next.kind === 'complete' && !next.sentence) return { ...next, older: true, sentence: OLDER[next.proof] ?? '' }
  if (next.kind === 'wait' && next.why !== 'cooldown') return { ...next, ...aboutOf(owner, next.question) }
  if (next.kind === 'turn' && !next.heard) {
    const heard = next.feedback.filter((text) => text.startsWith(PERSON)).map((text) => text.slice(PERSON.length))
    return heard.length > 0 ? { ...next, heard } : next
  }
  const isRejected = next.kind === 'halt' && next.sentence.startsWith('Cancelled by you, who rejected it')
  return isRejected ? { ...next, rejected: true } : next
}

/** A vault's question was once known only by its sentence. */
function aboutOf(owner: Owner | undefined, question = ''): { about?: string } {
  if (owner?.kind !== 'vault') return {}
  if (question.endsWith(' waits in Pending_Approval for your approval.')) return { about: 'approval' }
  return question.endsWith(' is in no folder of the vault any more.') ? { about: 'gone' } : {}
}
