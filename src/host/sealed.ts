/**
 * Secrets that people give a loop: in its prompt, the arguments of its agent, a check, or an order. Each is kept in its
 * own private file below `secrets/`; everything else has a mark in its place, such as `ghp_…masked-0123456789ab…`,
 * which is replaced by the secret right before a program gets it.
 */
import { join } from 'node:path'
import type { Fact, Loop, Spec } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type Masking, markSecrets, maskSecrets } from '../formats/secrets.ts'
import { readIfThere } from './files.ts'
import { keepSecret } from './keep-secret.ts'
import { editTexts, knownHere, mask, maskIn, openMask } from './mask.ts'

const MARK = /…masked-([0-9a-f]{12})(?::\w+)?…/g

function seal(home: string, text: string): string {
  return markSecrets(text, knownHere(), (body, _, name) => {
    const id = keepSecret(home, body)
    return name ? `…masked-${id}:${name}…` : `…masked-${id}…`
  })
}

export function sealIn<Value>(home: string, value: Value): Value {
  return editTexts(value, (text) => seal(home, text))
}

/** Where it works and whose it is stays as it is: those are paths and names. */
function sealSpec(home: string, spec: Spec): Spec {
  const { work } = spec
  const { agentArgs, chain, worktree, proofSetup } = work
  const sealed = (text: string) => seal(home, text)
  return {
    ...spec,
    prompt: sealed(spec.prompt),
    checks: spec.checks.map(sealed),
    stages: sealIn(home, spec.stages),
    ...(spec.agents ? { agents: spec.agents.map(sealed) } : {}),
    work: {
      ...work,
      agent: sealed(work.agent),
      agentArgs: sealArguments(home, agentArgs),
      ...(chain ? { chain: chain.map((args) => sealArguments(home, args)) } : {}),
      ...(proofSetup === undefined ? {} : { proofSetup: sealed(proofSetup) }),
      ...(worktree?.setup === undefined ? {} : { worktree: { ...worktree, setup: sealed(worktree.setup) } }),
    },
  }
}

/** An option says what the argument after it is. */
function sealArguments(home: string, given: readonly string[]): string[] {
  return given.map((argument, index) => {
    const option = given[index - 1] ?? ''
    const together = /^--?[\w-]+$/.test(option) ? `${option} ` : ''
    const sealed = seal(home, `${together}${argument}`)
    return sealed.startsWith(together) ? sealed.slice(together.length) : seal(home, argument)
  })
}

export function sealLoop<Made extends Omit<Loop, 'id'>>(home: string, loop: Made): Made {
  return { ...loop, spec: sealSpec(home, loop.spec), tally: maskIn(loop.tally), next: sealIn(home, loop.next) }
}

/** What people say is sealed, what agents and programs say is masked. */
export function sealFact(home: string, fact: Fact): Fact {
  switch (fact.kind) {
    case 'told':
      return { ...fact, by: mask(fact.by), order: sealIn(home, fact.order) }
    case 'asked':
      return { ...fact, spec: sealSpec(home, fact.spec) }
    case 'adopted':
      return { ...fact, loop: sealLoop(home, fact.loop) }
    case 'turned': {
      const { session, ...turn } = fact.turn
      // An agent's session is looked up by this name.
      return { ...fact, turn: { ...maskIn(turn), ...(session ? { session } : {}) } }
    }
    case 'moved':
      return fact
    default:
      return maskIn(fact)
  }
}

/** What can be done with the secrets that somebody was given. */
export type Secrets = {
  /** A text with the secrets in place of their marks. */
  open(text: string): string
  /** A text without them, and without any other secret. */
  mask(text: string): string
  masking(): Masking
}

/** `given`: where their marks are. Other marks stay marks: what an agent prints opens nothing. */
export function secretsOf(home: string, given: unknown): Secrets {
  const ids = marksIn(given)
  const values = new Map([...ids].flatMap((id) => secretOf(home, id)))
  const known = [...values.values()].filter((value) => value.length >= 8).map((value) => ({ value }))
  const all = knownHere(known)
  return {
    mask: (text) => maskSecrets(text, all),
    masking: () => openMask(known),
    open: (text) =>
      text.replace(MARK, (found, id: string) => {
        if (!ids.has(id)) return found
        const value = values.get(id)
        if (value === undefined) throw missing(home, id, found)
        return value
      }),
  }
}

/** The secrets whose marks occur anywhere in this. */
export function marksIn(given: unknown): Set<string> {
  return new Set([...(JSON.stringify(given) ?? '').matchAll(MARK)].map(([, id = '']) => id))
}

export function secretOf(home: string, id: string): [id: string, value: string][] {
  const value = readIfThere(join(home, 'secrets', id))
  return value === undefined ? [] : [[id, value]]
}

function missing(home: string, id: string, mark: string): RalphError {
  return new RalphError(
    'secret-missing',
    `The secret behind "${mark}" is no longer in ${join(home, 'secrets')}. Start a new loop with the full prompt, or write the secret to ${join(home, 'secrets', id)}, then run \`ralph resume\`.`,
  )
}
