/** Parts of files: extracts the means of proof from a text, and swaps that part with another version. */
import { extractExamples } from './doctests.ts'
import { isObject, type Json, readJson, valueAt } from './json-file.ts'
import { extractTargets, mixTargets } from './makefile.ts'
import type { Part } from './means.ts'
import { extractSection, mixSections } from './ralph-section.ts'
import { extractTests, mixTests } from './rust-tests.ts'
import { extractTables, mixTables } from './toml-tables.ts'

/** The part of a text that counts; undefined if it cannot be told apart from the rest. */
export function extractPart(part: Part, text: string): string | undefined {
  if (part === 'whole') return text
  switch (part.kind) {
    case 'json':
      return extractKeys(text, part.keys)
    case 'toml':
      return extractTables(text, part.tables)
    case 'make':
      return extractTargets(text, part)
    case 'rust':
      return extractTests(text)
    case 'ralph':
      return extractSection(text)
    case 'examples':
      return extractExamples(text)
    case 'mixed':
      return undefined
    case 'lines':
      return text
        .split('\n')
        .filter((line) => OF_TESTS.test(line))
        .join('\n')
  }
}

const OF_TESTS = /test|skip|exclude|ignore|surefire|failsafe|jacoco|coverage|onlyIf|enabled/i

/** The two versions of one file; undefined: it does not exist. */
export type Sides = { rest: string | undefined; means: string | undefined }

export type Mixed = { text: string } | 'absent' | 'not-separable'

/** `rest` with the part taken from `means`. If both parts agree, `rest` keeps every byte. */
export function mix(part: Part, { rest, means }: Sides): Mixed {
  if (part === 'whole') return means === undefined ? 'absent' : { text: means }
  if (rest === undefined && means === undefined) return 'absent'
  const [of, from] = [rest, means].map((text) => (text === undefined ? '' : extractPart(part, text)))
  if (of === undefined || from === undefined) return rest === means ? { text: rest ?? '' } : 'not-separable'
  if (of === from && rest !== undefined) return { text: rest }
  if (of === from) return 'absent'
  const text = mixedText(part, rest, means)
  if (text === undefined || text === 'absent') return text ?? 'not-separable'
  // The result must parse back to the intended part.
  return extractPart(part, text) === from || part.kind === 'toml' ? { text } : 'not-separable'
}

function mixedText(
  part: Exclude<Part, 'whole'>,
  rest: string | undefined,
  means: string | undefined,
): string | undefined {
  switch (part.kind) {
    case 'json':
      return mixKeys(rest, means, part.keys)
    case 'toml':
      return mixTables(rest ?? '', means ?? '', part.tables)
    case 'make':
      // A makefile hides the others merely by existing, so it comes and goes as a whole.
      return rest === undefined || means === undefined ? (means ?? 'absent') : mixTargets(rest, means, part)
    case 'rust':
      return mixTests(rest ?? '', means ?? '')
    case 'ralph':
      return mixSections(rest ?? '', means ?? '')
    case 'lines':
    case 'examples':
    case 'mixed':
      return undefined
  }
}

type Keys = readonly (readonly string[])[]

/** One line per key. */
function extractKeys(text: string, keys: Keys): string | undefined {
  const read = readJson(text)
  if (!('value' in read) || !isObject(read.value)) return undefined
  const { value } = read
  return keys
    .flatMap((key) => {
      const found = valueAt(value, key)
      return found === undefined ? [] : [`${key.join('.')}: ${JSON.stringify(found)}`]
    })
    .join('\n')
}

function mixKeys(rest: string | undefined, means: string | undefined, keys: Keys): string | undefined {
  const [own, given] = [rest, means].map((text) => readJson(text ?? '{}'))
  if (!own || !given || !('value' in own) || !('value' in given)) return undefined
  if (!isObject(own.value)) return undefined
  const mixed = keys.reduce((value, key) => withValue(value, key, valueAt(given.value, key)), own.value)
  const [, indent = '  '] = /^\s*\{\r?\n([ \t]+)"/.exec(rest ?? '') ?? []
  const text = JSON.stringify(mixed, undefined, rest?.trim().includes('\n') === false ? undefined : indent)
  return rest === undefined || rest.endsWith('\n') ? `${text}\n` : text
}

function withValue(value: Json, [key = '', ...more]: readonly string[], given: unknown): Json {
  const inner = value[key]
  if (more.length > 0 && (isObject(inner) || given !== undefined))
    return { ...value, [key]: withValue(isObject(inner) ? inner : {}, more, given) }
  if (given !== undefined) return { ...value, [key]: given }
  const { [key]: _, ...others } = value
  return others
}
