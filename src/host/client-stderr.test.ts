import { spawnSync } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'

const MODULE = resolve('src/host/client-stderr.ts')

/** A client with these arguments, whose hook says something through a shell; what is then on the client's own stderr. */
function heard(args: string[], to: 'file' | 'pipe'): string {
  const folder = temporaryFolder()
  const hook = join(folder, 'hook.mjs')
  writeFileSync(hook, `import { printThrough } from ${JSON.stringify(MODULE)}\nprintThrough(['-p'], 'It has ended.')\n`)
  const client = join(folder, 'client.cjs')
  const shell = JSON.stringify(`sh -c "'${process.execPath}' '${hook}'; true"; true`)
  writeFileSync(
    client,
    `console.error('Before.'); require('child_process').spawnSync('sh', ['-c', ${shell}]); console.error('After.')`,
  )
  const log = join(folder, 'log')
  const argv = [client, ...args]
  if (to === 'file') spawnSync(process.execPath, argv, { stdio: ['ignore', 'ignore', openSync(log, 'a')] })
  else spawnSync('sh', ['-c', '"$@" 2>&1 >/dev/null | cat > "$0"', log, process.execPath, ...argv])
  return readFileSync(log, 'utf8')
}

test.for(['file', 'pipe'] as const)('a client that prints passes a line on, into a %s', (to, { skip }) => {
  skip(process.platform !== 'linux', 'there is no /proc')
  expect(heard(['-p', 'Do it.'], to)).toBe('Before.\nIt has ended.\nAfter.\n')
})

test('a client that draws a screen is left alone', () => {
  expect(heard(['Do it.'], 'file')).toBe('Before.\nAfter.\n')
})
