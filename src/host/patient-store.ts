/**
 * A store that waits while its database is unavailable for a moment. Each call is one transaction, so it is repeated
 * whole.
 */
import { isRalphError } from '../error.ts'
import { untilItWorks, type Waiting } from './waiting.ts'

type Calls = Record<string, unknown>

/** `apart` are the members that are not calls. Every other function of a store is asynchronous, so it can wait. */
type Patience<Store> = { apart: readonly (keyof Store)[]; why: Waiting['why'] }

export function waitWhileLocked<Store extends object>(
  store: Store,
  { apart, patienceMs }: { apart: readonly (keyof Store)[]; patienceMs: number },
): Store {
  const why = (cause: unknown, waitedMs: number) =>
    isRalphError(cause) && cause.code === 'database-locked' && waitedMs < patienceMs ? WAITING : undefined
  return patientStore(store, { apart, why })
}

const WAITING = 'The database is locked by another program. Waiting for it.'

/** `why`: says why a failed call is worth repeating. */
export function patientStore<Store extends object>(store: Store, { apart, why }: Patience<Store>): Store {
  const patient = (part: unknown): unknown => {
    if (typeof part === 'function') return (...given: unknown[]) => untilItWorks(async () => part(...given), { why })
    if (typeof part !== 'object' || part === null) return part
    return Object.fromEntries(Object.entries(part as Calls).map(([name, inner]) => [name, patient(inner)]))
  }
  const given = Object.fromEntries(apart.map((name) => [name, store[name]]))
  return { ...(patient(store) as Store), ...given } // the same names, with functions that return the same
}
