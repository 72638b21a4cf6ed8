/**
 * Masks secrets in everything this process stores or shows: known formats, and the values of its own secret variables.
 */
import { type Known, secretVariables } from '../formats/secret-values.ts'
import { type KnownSecrets, knownSecrets, type Masking, maskSecrets, openMasking } from '../formats/secrets.ts'

const OWN = secretVariables(process.env)
const OWN_KNOWN = knownSecrets(OWN)

/** `given`: what else is known to be secret. */
export function knownHere(given: readonly Known[] = []): KnownSecrets | undefined {
  return given.length === 0 ? OWN_KNOWN : knownSecrets([...OWN, ...given])
}

export function mask(text: string): string {
  return maskSecrets(text, OWN_KNOWN)
}

/** For texts that arrive one after another, such as the events of an agent. */
export function openMask(given: readonly Known[] = []): Masking {
  return openMasking(knownHere(given))
}

/** Masks every string in a value. */
export function maskIn<Value>(value: Value): Value {
  return editTexts(value, mask)
}

export function editTexts<Value>(value: Value, edit: (text: string) => string): Value {
  return edited(value, edit) as Value // only strings differ
}

function edited(value: unknown, edit: (text: string) => string): unknown {
  if (typeof value === 'string') return edit(value)
  if (Array.isArray(value)) return value.map((item) => edited(item, edit))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, edited(item, edit)]))
}
