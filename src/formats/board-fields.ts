/** Validates the fields of a board task, whichever front they come from. */
import type { BoardFields, BoardPatch } from './board-task.ts'

export type FieldTrouble = { field: keyof BoardFields; words: string }

/** The first invalid field and what it must be. null stands for the default and is always valid. */
export function fieldTrouble(patch: BoardPatch): FieldTrouble | undefined {
  for (const { field, isFine, words } of RULES) {
    const value = patch[field]
    if (value !== undefined && value !== null && !isFine(value as never)) return { field, words }
  }
  return undefined
}

/** The name of a group appears in URLs and paths. */
export function isName(text: string): boolean {
  return text.length <= 200 && /^(?!\.)[^/\\\p{Cc}]+$/u.test(text)
}

type Rule = { field: keyof BoardFields; isFine(value: never): boolean; words: string }

const RULES: readonly Rule[] = [
  { field: 'title', isFine: line(500), words: 'must be one line of at most 500 characters' },
  {
    field: 'description',
    isFine: (text: string) => text.length <= 200_000,
    words: 'must have at most 200000 characters',
  },
  { field: 'type', isFine: line(100), words: 'must be one line of at most 100 characters' },
  { field: 'labels', isFine: each(line(100)), words: 'must be lines of at most 100 characters' },
  { field: 'ralph_completion_promise', isFine: line(1_000), words: 'must be one line of text' },
  {
    field: 'stages',
    isFine: each(({ name, check }: { name: string; check?: string }) => /^[\w .:-]{1,60}$/.test(name) && check !== ''),
    words: 'must have names of letters, digits, spaces, and . : _ - only, and their checks must not be empty',
  },
  { field: 'checks', isFine: each((text: string) => text.trim() !== ''), words: 'must not be empty' },
  { field: 'agent', isFine: line(1_000), words: 'must name an agent' },
]

function line(most: number): (text: string) => boolean {
  return (text) => text.trim() !== '' && text.length <= most && /^\P{Cc}*$/u.test(text)
}

function each<Value>(isFine: (value: Value) => boolean): (values: readonly Value[]) => boolean {
  return (values) => values.every(isFine)
}
