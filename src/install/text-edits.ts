/** Adds ralph's lines and tables to the user's files, and removes them again. */
import { RalphError } from '../error.ts'
import { extractTables, removeTables } from '../formats/toml-tables.ts'
import type { Wanted } from './pieces.ts'

export function withLines(text: string, lines: readonly string[]): string {
  const missing = lines.filter((line) => !text.split('\n').includes(line))
  return missing.length === 0 ? text : append(text, missing)
}

function append(text: string, lines: readonly string[]): string {
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.map((line) => `${line}\n`).join('')}`
}

export function withoutLines(text: string, lines: readonly string[]): string {
  const kept = text.split('\n').filter((line) => !lines.includes(line))
  return kept.join('\n')
}

type Table = Extract<Wanted, { kind: 'table' }>

/** Whether a text contains something of ralph's. */
type Mentions = (text: string) => boolean

/** A table with everything ralph needs stays, whatever the user added to it. */
export function withTable(text: string, want: Table, mentions: Mentions): string {
  const found = ownTable(text, want, mentions)
  if (found === 'none') return append(text, want.lines)
  if (found === 'foreign')
    throw new RalphError('input-invalid', `${want.path} already has ${want.lines[0]}. Remove it first.`)
  const there = found.text.split('\n')
  if (want.lines.every((line) => there.includes(line))) return text
  return append(withoutTable(text, want, mentions), want.lines)
}

export function withoutTable(text: string, want: Table, mentions: Mentions): string {
  const found = ownTable(text, want, mentions)
  return typeof found === 'string' ? text : (removeTables(text, [want.name]) ?? text)
}

function ownTable(text: string, { path, name }: Table, mentions: Mentions): { text: string } | 'none' | 'foreign' {
  const table = extractTables(text, [name])
  if (table === undefined) throw new RalphError('input-invalid', `${path} is not valid TOML. Fix it, then try again.`)
  if (table === '') return 'none'
  return mentions(table) ? { text: table } : 'foreign'
}
