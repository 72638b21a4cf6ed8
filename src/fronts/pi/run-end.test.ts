import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { watchRuns } from './run-end.ts'

const folder = mkdtempSync(join(tmpdir(), 'ralph-pi-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
writeFileSync(join(folder, 'settings.json'), '{"retry":{"maxRetries":1,"baseDelayMs":50}}')

const watch = () => watchRuns(() => folder, { PI_CODING_AGENT_DIR: folder })
const idle = () => true

test('a run without an error is the last one', async () => {
  expect(await watch().continues(undefined, idle)).toBe(false)
})

test('waits for an error that Pi retries', async () => {
  const runs = watch()
  const continues = runs.continues('503 overloaded', idle)
  setTimeout(runs.started, 100)
  expect(await continues).toBe(true)
  // It has given up now, so there is no wait.
  const before = performance.now()
  expect(await runs.continues('503 overloaded', idle)).toBe(false)
  expect(performance.now() - before).toBeLessThan(500)
})

test('an error that Pi does not retry is the end', async () => {
  const before = performance.now()
  expect(await watch().continues('401 invalid x-api-key', idle)).toBe(false)
  expect(performance.now() - before).toBeLessThan(500)
})

test('waits for a compaction and the run that follows it', async () => {
  const runs = watch()
  const continues = runs.continues(undefined, idle)
  runs.compacting(true)
  setTimeout(() => runs.compacting(false), 100)
  setTimeout(runs.started, 200)
  expect(await continues).toBe(true)
})
