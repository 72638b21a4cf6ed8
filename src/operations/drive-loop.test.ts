import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { removeLeftPlaces } from '../drive/left-places.ts'
import { lockLoop } from '../host/lock.ts'
import { dropDatabase, postgresMissing, testDatabase } from '../host/postgres/postgres.test-support.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

const missing = await postgresMissing()

describe.each([
  ['in the home', async () => openPlace()],
  ['in Postgres', openPlaceInPostgres],
] as const)('a loop %s', (where, open) => {
  const isMissing = where === 'in Postgres' && missing !== undefined

  test.skipIf(isMissing)('keeps its place for experiments while another one starts', async () => {
    const place = await open()
    const { home } = place.context
    const seen = (name: string) => join(home, name)
    const agent = place.agent(`touch '${seen('began')}'; until test -e '${seen('go')}'; do sleep 0.02; done`)
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent, limits: { iterations: 1 } })
    const driving = place.drive(loop)
    await vi.waitFor(() => expect(existsSync(seen('began'))).toBe(true), 10_000)
    mkdirSync(join(home, 'proof', loop), { recursive: true })
    await removeLeftPlaces(home, 'another')
    expect(existsSync(join(home, 'proof', loop))).toBe(true)
    writeFileSync(seen('go'), '')
    await driving
    await removeLeftPlaces(home, 'another')
    expect(existsSync(join(home, 'proof', loop))).toBe(false)
  })

  test.skipIf(isMissing)('is left to the process that cleans up after its last driver', async () => {
    const place = await open()
    const { home } = place.context
    const { loop } = await place.run('start_loop', { prompt: 'Build it', agent: place.agent('true') })
    const lock = lockLoop(home, loop)
    await expect(place.drive(loop)).rejects.toMatchObject({ code: 'loop-held' })
    lock?.close()
    expect(await place.drive(loop)).toMatchObject({ id: loop })
  })
})

async function openPlaceInPostgres(): Promise<OperationPlace> {
  const database = await testDatabase()
  onTestFinished(() => dropDatabase(database))
  return openPlace({ database })
}
