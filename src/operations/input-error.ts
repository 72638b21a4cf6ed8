/** Turns a validation error into one sentence that names the operation and the field. */
import type { core } from 'zod'
import { count } from '../engine/limits.ts'
import { RalphError } from '../error.ts'
import { quote } from '../formats/json-file.ts'
import { nearest } from '../formats/nearest.ts'

type Issue = core.$ZodIssue

export type Given = { operation: string; input: unknown; fields: readonly string[] }

/** Reports only the first issue. */
export function inputError([issue]: readonly Issue[], given: Given): RalphError {
  if (!issue) return new RalphError('input-invalid', `${given.operation}: the input is not valid.`)
  return new RalphError('input-invalid', sentence(issue, given), { field: fieldOf(issue) })
}

/** Empty: the issue concerns the whole input. */
function fieldOf(issue: Issue): string {
  const within = issue.code === 'invalid_union' ? closest(issue.errors.flat()) : undefined
  if (within) return fieldName([...issue.path, ...within.path])
  return fieldName(issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path)
}

function sentence(issue: Issue, { operation, input, fields }: Given): string {
  if (issue.code === 'invalid_union') {
    const within = closest(issue.errors.flat())
    if (within) return sentence({ ...within, path: [...issue.path, ...within.path] }, { operation, input, fields: [] })
  }
  const field = fieldName(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    if (field) return `${operation}: ${field} has no field ${quote(key)}.`
    const close = nearest(key, fields)
    const takes = fields.length > 0 ? `It takes ${fields.join(', ')}.` : 'It takes no input.'
    return `${operation} has no field ${quote(key)}.${close ? ` Did you mean "${close}"?` : ''} ${takes}`
  }
  const what = `${operation}: ${field || 'the input'} ${wanted(issue)}`
  const isWhole = issue.code === 'custom' || (issue.code === 'too_small' && wanted(issue) === EMPTY)
  if (isWhole) return `${what}.`
  const value = valueAt(input, issue.path)
  return value === undefined ? `${what}, but is missing.` : `${what}, got ${show(value)}.`
}

/** Among several shapes, the one that matches the value: the issue is inside it. */
function closest(issues: readonly Issue[]): Issue | undefined {
  return issues.find(({ code, path }) => path.length > 0 || code !== 'invalid_type')
}

/** `stages[0].name` */
function fieldName(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
}

function wanted(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'too_small':
      if (issue.origin === 'string' || issue.origin === 'array') return EMPTY
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${count(Number(issue.maximum), 'character')}`
        : issue.origin === 'array'
          ? `must have at most ${count(Number(issue.maximum), 'item')}`
          : `must be at most ${issue.maximum}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
    case 'invalid_union':
      return `must be ${issue.errors.flatMap(([first]) => (first ? [wanted(first).replace('must be ', '')] : [])).join(' or ')}`
    default:
      return issue.message // our own message in the schema
  }
}

const EMPTY = 'must not be empty'

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, part) => (value as Record<PropertyKey, unknown> | undefined)?.[part], input)
}

function show(value: unknown): string {
  if (typeof value === 'string' && value.length > 80) return `${value.length} characters`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return typeof value === 'string' ? quote(value) : String(value)
}
