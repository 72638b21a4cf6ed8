import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { openAccessLog } from './access-log.ts'

test('a large log starts over, and the older one is kept', () => {
  const home = temporaryFolder()
  const path = join(home, 'server.log')
  writeFileSync(path, 'x'.repeat(4_999_999))
  const log = openAccessLog({ home, secret: 'secret', now: () => 0 })
  log.write('one')
  log.write('two secret')
  expect(readFileSync(path, 'utf8')).toBe('1970-01-01T00:00:00.000Z two ***\n')
  expect(statSync(`${path}.old`).size).toBeGreaterThan(5_000_000)
})

test('a log that cannot be written does not block requests', () => {
  expect(() => openAccessLog({ home: '/nowhere', secret: 's', now: () => 0 }).write('one')).not.toThrow()
})
