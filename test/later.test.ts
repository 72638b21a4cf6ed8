/** What may be loaded on first use: `scripts/later.ts` finds the functions of a module, and refuses anything else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { functionsOf } from '../scripts/later.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-later-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function moduleOf(text: string): string {
  const file = join(folder, 'module.ts')
  writeFileSync(file, text)
  return file
}

test('functions are found, and types are allowed', () => {
  const text = [
    'export type A = { kind: string }',
    'export interface B { kind: string }',
    'const LIMIT = 3',
    'function own() { return LIMIT }',
    'export function one() { return own() }',
    'export async function two<T>(given: T) { return given }',
    'export function* three() { yield LIMIT }',
  ]
  expect(functionsOf(moduleOf(text.join('\n')))).toEqual(['one', 'two', 'three'])
})

test.each([
  'export const LIMIT = 3',
  'export class A {}',
  "export * from './a.ts'",
  'export { own }',
  'export let a = 1',
])('%s cannot be loaded later', (line) => {
  expect(() => functionsOf(moduleOf(`export function one() {}\n${line}\n`))).toThrow(`Found: ${line}`)
})
