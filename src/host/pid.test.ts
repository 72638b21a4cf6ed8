import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isGone } from './pid.ts'

test('this process is not gone', () => {
  expect(isGone(process.pid)).toBe(false)
})

test('one that has ended and was reaped is gone', async () => {
  const child = spawn('true')
  await once(child, 'exit')
  expect(isGone(child.pid ?? 0)).toBe(true)
})

test('a zombie is gone, although its number is still taken', async ({ skip }) => {
  skip(!existsSync('/proc/self/stat'), 'only Linux tells')
  // The shell starts a child that ends at once, then becomes a program that never asks how its children ended.
  const parent = spawn('sh', ['-c', 'true & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(String(line))
    const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.[0]
    await expect.poll(state, { timeout: 5_000 }).toBe('Z')
    expect(isGone(pid)).toBe(true)
  } finally {
    parent.kill('SIGKILL')
  }
})
