import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lockLoop } from '../host/lock.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { openPlace, shown } from '../host/proof-place.test-support.ts'
import { makeRepository } from '../host/repository.test-support.ts'
import { removeLeftPlaces } from './left-places.ts'

test('removes only the places of loops that no process is running', async () => {
  const main = await makeRepository()
  const home = temporaryFolder()
  mkdirSync(join(home, 'locks'))
  for (const loop of ['left', 'driven', 'mine'])
    await shown(await openPlace(main, { home, loop }), main.git('rev-parse', 'HEAD^{tree}'))
  writeFileSync(join(home, 'proof', 'left.json'), '{}')
  const lock = lockLoop(home, 'driven')
  await removeLeftPlaces(home, 'mine')
  expect(readdirSync(join(home, 'proof')).sort()).toEqual(['driven', 'left.json', 'mine'])
  lock?.close()
  await removeLeftPlaces(home)
  expect(readdirSync(join(home, 'proof'))).toEqual(['left.json'])
  expect(existsSync(join(main.dir, '.git/worktrees'))).toBe(false)
})

test('releases a loop that it has cleaned up for', async () => {
  const main = await makeRepository()
  const home = temporaryFolder()
  mkdirSync(join(home, 'locks'))
  await openPlace(main, { home, loop: 'left' })
  await removeLeftPlaces(home)
  const lock = lockLoop(home, 'left')
  expect(lock).toBeDefined()
  lock?.close()
})

test('has nothing to do if there never was an experiment', async () => {
  const home = temporaryFolder()
  await removeLeftPlaces(home)
  expect(readdirSync(home)).toEqual([])
})
