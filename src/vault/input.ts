/** Validates the inputs of the task API: names in snake_case or camelCase, valid types, nothing unknown. */
import { RalphError } from '../error.ts'
import { quote } from '../formats/json-file.ts'
import { nearest } from '../formats/nearest.ts'

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

/** The same object with names in either style. */
export type Either<Input> = Input | { [Name in keyof Input as Camel<Name & string>]: Input[Name] }

type Kind = { expected: string; fits: (value: unknown) => boolean }

const text = (most: number): Kind => ({
  expected: `a string of at most ${most} characters`,
  fits: (value) => typeof value === 'string' && value.length <= most,
})
const number = (expected: string, fits: (value: number) => boolean): Kind => ({
  expected,
  fits: (value) => typeof value === 'number' && Number.isFinite(value) && fits(value),
})

export type KindName = 'id' | 'words' | 'line' | 'count' | 'some' | 'amount' | 'minutes'

const KINDS: Readonly<Record<KindName, Kind>> = {
  id: { expected: 'a string', fits: (value) => typeof value === 'string' },
  words: text(10_000),
  line: text(1_000),
  count: number('a whole number of at least 0', (value) => Number.isSafeInteger(value) && value >= 0),
  some: number('a whole number of at least 1', (value) => Number.isSafeInteger(value) && value >= 1 && value < 1e9),
  amount: number('a number of at least 0', (value) => value >= 0 && value <= 1e9),
  minutes: number('a number above 0, at most 525600', (value) => value > 0 && value <= 525_600),
}

export type Wants = Readonly<Record<string, { kind: KindName; optional?: true }>>

/** The arguments of a call as one object: positional values are named in order. */
export function asObject(call: string, given: readonly unknown[], wants: Wants): unknown {
  const names = Object.keys(wants)
  const values = given.slice(0, given.findLastIndex((value) => value !== undefined) + 1)
  const [first] = values
  if (values.length <= 1) return first
  if (typeof first !== 'string') throw new RalphError('input-invalid', `${call} takes one object, or separate values.`)
  if (values.length > names.length) {
    const most = names.length === 1 ? 'one value' : `at most ${names.length} values`
    throw new RalphError('input-invalid', `${call} takes ${most}: ${names.join(', ')}.`)
  }
  return Object.fromEntries(values.map((value, index) => [names[index], value]))
}

/** Reads an input by its snake_case names. A plain string stands for the first. */
export function readInput<Input extends object>(call: string, given: unknown, wants: Wants): Input {
  const value = typeof given === 'string' ? { [Object.keys(wants)[0] ?? '']: given } : given
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new RalphError('input-invalid', `${call} takes an object with ${Object.keys(wants).join(', ')}.`)
  const found = new Map(Object.entries(value).map(([name, each]) => [snake(name), each]))
  for (const name of found.keys()) if (!Object.hasOwn(wants, name)) throw unknown(call, name, Object.keys(wants))
  const entries = Object.entries(wants).flatMap(([name, { kind, optional }]) => {
    const each = found.get(name)
    if (each === undefined && optional) return []
    if (!KINDS[kind].fits(each))
      throw new RalphError('input-invalid', `${call}: ${name} must be ${KINDS[kind].expected}, got ${show(each)}.`)
    return [[name, each] as const]
  })
  return Object.fromEntries(entries) as Input // every name has just been checked
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function unknown(call: string, name: string, known: readonly string[]): RalphError {
  const close = nearest(name, known)
  return new RalphError(
    'input-invalid',
    `${call}: unknown name "${name}".${close ? ` Did you mean "${close}"?` : ''} It takes ${known.join(', ')}.`,
  )
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'string' ? quote(value) : String(value)
}
