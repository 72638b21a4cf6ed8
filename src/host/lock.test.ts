import { join } from 'node:path'
import { expect, test } from 'vitest'
import { source, startScript, temporaryFolder } from './place.test-support.ts'

test('of several that want one lock again and again, each gets it or learns who has it', {
  timeout: 60_000,
}, async () => {
  const path = join(temporaryFolder(), 'lock.db')
  const code = `const { lockFile } = await import(${source('host/lock.ts')})
    const holders = new Set()
    for (let had = 0; had < 100; ) {
      const lock = lockFile(process.env.LOCK, 'process ' + process.pid)
      if ('heldBy' in lock) {
        holders.add(lock.heldBy)
        continue
      }
      had += 1
      lock.close()
    }
    console.log(JSON.stringify([...holders]))`
  const wanting = [1, 2, 3].map(() => startScript(code, { LOCK: path }))
  const names = ['another process', ...wanting.map(({ pid }) => `process ${pid}`)]
  for (const { ended } of wanting) {
    const { out, ...end } = await ended
    expect(end).toMatchObject({ code: 0, err: '' })
    for (const holder of JSON.parse(out)) expect(names).toContain(holder)
  }
})
