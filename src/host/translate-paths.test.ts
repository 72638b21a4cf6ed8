import { expect, test } from 'vitest'
import { openTranslator } from './translate-paths.ts'

const translate = openTranslator({ from: ['/home/me/app', '/link/app'], to: '/place', except: '/home/me/app/.ralph' })

test.each([
  ['/home/me/app', '/place'],
  ['/home/me/app/x.sh /home/me/app', '/place/x.sh /place'],
  ['/link/app/x.sh', '/place/x.sh'],
  ['--config=/home/me/app/a.json', '--config=/place/a.json'],
  ['-I/home/me/app/include', '-I/place/include'],
  ['cd "/home/me/app" && make', 'cd "/place" && make'],
  ['/home/me/app/bin:/usr/bin:/home/me/app/x', '/place/bin:/usr/bin:/place/x'],
  ['file:///home/me/app/a.js', 'file:///place/a.js'],
  ['#!/home/me/app/.venv/bin/python\nx', '#!/place/.venv/bin/python\nx'],
  ['import x\n/home/me/app/src\n', 'import x\n/place/src\n'],
  ["{'pkg': '/home/me/app/src/pkg'}", "{'pkg': '/place/src/pkg'}"],
])('%j reads %j', (text, there) => {
  expect(translate(text)).toBe(there)
})

test.each([
  'npm test',
  '/home/me/app2/x.sh',
  '/home/me/app-old',
  '/home/me/app.bak/x',
  '/mnt/home/me/app/x',
  '/home/me/app/.ralph',
  '/home/me/app/.ralph/proof',
])('%j stays', (text) => {
  expect(translate(text)).toBe(text)
})

test('a name that only starts like the exception is translated', () => {
  expect(translate('/home/me/app/.ralphrc')).toBe('/place/.ralphrc')
})
