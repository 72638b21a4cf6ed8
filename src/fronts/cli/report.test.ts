import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { main } from './main.ts'
import { openRecorder } from './screen.test-support.ts'

test('without the built page, the error says how to get it', async () => {
  const [out, err, folder] = [openRecorder(), openRecorder(), temporaryFolder()]
  const env = { RALPH_HOME: `${folder}/home`, HOME: folder }
  const streams = { stdin: Readable.from([]), stdout: out.stream, stderr: err.stream }
  const root = temporaryFolder()
  const code = await main(['stats', '-o', 'x.html'], { root, version: '0' }, { env, cwd: () => folder, ...streams })
  expect([code, err.text()]).toEqual([
    1,
    'ralph: dist/web/report.js is missing from this installation of ralph. Reinstall ralph; in a clone, run `npm run build`.\n',
  ])
})
