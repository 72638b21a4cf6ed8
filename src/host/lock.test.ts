import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventually, source, startScript, temporaryFolder } from './place.test-support.ts'

test('of several that want one lock again and again, each gets it or hears who has it', async () => {
  const path = join(temporaryFolder(), 'lock.db')
  const code = `const { lockFile } = await import(${source('host/lock.ts')})
    const until = Date.now() + 3_000
    let taken = 0
    while (Date.now() < until) {
      const lock = lockFile(process.env.LOCK, 'process ' + process.pid)
      if ('heldBy' in lock) continue
      taken += 1
      lock.close()
    }
    console.log(taken > 0 ? 'has had it' : 'never got it')`
  const wanting = [1, 2, 3].map(() => startScript(code, { LOCK: path }))
  await eventually(() => wanting.every((one) => one.lines().length > 0))
  for (const one of wanting) expect(await one.ended).toMatchObject({ code: 0, err: '' })
})
