import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bornOf, isGone } from './pid.ts'

test('this process has not ended', () => {
  expect(isGone(process.pid)).toBe(false)
})

test('a process that has ended and was reaped is gone', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  expect(isGone(child.pid ?? 0)).toBe(true)
})

test('a zombie is gone, although its id is still taken', { timeout: 60_000 }, async ({ skip }) => {
  skip(!existsSync('/proc/self/stat'), 'only Linux reports it')
  // The shell starts a child, then becomes a program that never reaps its children. Only then may the child end.
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  })
  try {
    if (!parent.stdout) throw new Error('no pipe')
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(String(line))
    const nameOf = () => readFileSync(`/proc/${parent.pid}/comm`, 'utf8').trim()
    await expect.poll(nameOf, { timeout: 20_000 }).toBe('sleep')
    parent.stdio[3]?.destroy()
    const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0]
    await expect.poll(state, { timeout: 20_000 }).toBe('Z')
    expect(isGone(pid)).toBe(true)
  } finally {
    parent.kill('SIGKILL')
  }
})

test('a reused id is gone, an id of another container is unknown', ({ skip }) => {
  skip(!existsSync('/proc/self/stat'), 'only Linux reports it')
  const born = bornOf(process.pid) ?? ''
  expect(born).toMatch(/^pid:\[\d+\] \d+$/)
  expect(isGone(process.pid, born)).toBe(false)
  expect(isGone(process.pid, born.replace(/\d+$/, '1'))).toBe(true)
  expect(isGone(2 ** 22, born)).toBe(true)
  expect(isGone(2 ** 22, born.replace(/\[\d+\]/, '[1]'))).toBe(false)
})
