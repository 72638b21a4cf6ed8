import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ancestors, inherited } from './ancestors.ts'

const HERE = resolve(import.meta.dirname, 'ancestors.ts')
const PRINTS = `import(${JSON.stringify(HERE)}).then(({ ancestors, inherited }) => console.log(JSON.stringify(inherited('RALPH_TRIED', ancestors()))))`

/** What a program below this line of sh inherits. */
function belowShell(line: string): string[] {
  const env = { PATH: process.env.PATH, NODE: process.execPath, PRINTS, RALPH_TRIED: 'one' }
  return JSON.parse(execFileSync('sh', ['-c', line], { env, encoding: 'utf8' })) as string[]
}

test('this process comes first, then the one that started it', () => {
  expect(ancestors().map(({ pid }) => pid)).toEqual(expect.arrayContaining([process.pid, process.ppid]))
  expect(ancestors()[0]?.pid).toBe(process.pid)
})

// The shell stays the parent of what it starts, because a command follows.
test.each<[how: string, line: string, found: string[]]>([
  ['plainly', '"$NODE" -e "$PRINTS"; :', ['one', 'one']],
  ['without the variable', 'env -u RALPH_TRIED "$NODE" -e "$PRINTS"; :', ['one']],
  ['with an empty environment', 'env -i "$NODE" -e "$PRINTS"; :', ['one']],
  ['in a session of its own', 'env -u RALPH_TRIED setsid -w "$NODE" -e "$PRINTS"; :', ['one']],
  ['under another value', 'RALPH_TRIED=two "$NODE" -e "$PRINTS"; :', ['two', 'one']],
  ['by one that hides it from itself', '"$NODE" -e "delete process.env.RALPH_TRIED; $PRINTS"; :', ['one', 'one']],
])('finds what a program above was started with: %s', (_, line, found) => {
  expect(belowShell(line)).toEqual(found)
})

test('finds a variable by its full name', () => {
  const above = [{ pid: 1, environment: ['RALPH_TRIED_TWICE=1', 'NOT_RALPH_TRIED=2', 'RALPH_TRIED=a=b'] }]
  expect(inherited('RALPH_TRIED', above)).toEqual(['a=b'])
})
