import { spawnSync } from 'node:child_process'
import { openSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from './place.test-support.ts'

const MODULE = resolve('src/host/client-stderr.ts')

/** Runs a client with these arguments, whose hook prints through a shell; returns the client's own stderr. */
function heard(args: string[], to: 'file' | 'pipe' | 'its own place'): string {
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
  if (to !== 'pipe')
    spawnSync(process.execPath, argv, { stdio: ['ignore', 'ignore', openSync(log, to === 'file' ? 'a' : 'w')] })
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

test('a file that the client does not append to is left alone: the client would overwrite the line', () => {
  expect(heard(['-p', 'Do it.'], 'its own place')).toBe('Before.\nAfter.\n')
})

test('a full pipe blocks nobody', async ({ skip }) => {
  skip(process.platform !== 'linux', 'there is no /proc')
  const folder = temporaryFolder()
  const hook = join(folder, 'hook.mjs')
  writeFileSync(hook, `import { printThrough } from ${JSON.stringify(MODULE)}\nprintThrough(['-p'], 'It has ended.')\n`)
  // Nobody reads the pipe until the client has ended.
  const client = `dd if=/dev/zero bs=1024 count=64 status=none >&2; exec "$@"`
  const run = join(folder, 'client.cjs')
  writeFileSync(run, `require('child_process').spawnSync('sh', ['-c', '"$0" "$1"; true', process.execPath, '${hook}'])`)
  const { stdout } = spawnSync(
    'sh',
    [
      '-c',
      `{ sh -c '${client}' "$@"; echo over >&3; } 2>&1 >/dev/null 3>"$0" | { while ! [ -s "$0" ]; do sleep 0.02; done; wc -c; }`,
      join(folder, 'over'),
      'sh',
      process.execPath,
      run,
      '-p',
    ],
    { timeout: 20_000, encoding: 'utf8' },
  )
  expect(stdout.trim()).toBe(String(64 * 1024))
})
