import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Personal, redactor } from './redact.ts'
import { shareable } from './shareable.ts'

const ALICE: Personal = {
  project: ['/home/alice/code/shop', '/home/alice/.ralph/worktrees/k3f9x2ma'],
  ralph: ['/home/alice/.ralph'],
  home: ['/home/alice'],
  user: ['alice'],
  host: ['alices-laptop.example.net', 'alices-laptop'],
}

test.each([
  ['/home/alice/code/shop/src/a.ts:3', '<project>/src/a.ts:3'],
  ['in /home/alice/code/shop.', 'in <project>.'],
  ['/home/alice/.ralph/worktrees/k3f9x2ma/a.ts', '<project>/a.ts'],
  ['/home/alice/.ralph/ralph.db', '<ralph>/ralph.db'],
  ['cc -I/home/alice/include file:///home/alice/a', 'cc -I~/include file://~/a'],
  ['~/.claude/projects/-home-alice-code', '~/.claude/projects/-home-<user>-code'],
  ['Alice, alice_2 and alice: malice, alices', '<user>, <user>_2 and <user>: malice, alices'],
  ['ssh alice@alices-laptop', 'ssh <user>@<host>'],
  ['mail to alice.b+x@mail.example.org.', 'mail to <email>.'],
  ['react@18.2.0 and actions/checkout@v4', 'react@18.2.0 and actions/checkout@v4'],
  ['at alices-laptop.example.net', 'at <host>'],
  ['/HOME/Alice/x', '~/x'],
  ['https://bob:hunter2@git.example.org/a', 'https://<login>@git.example.org/a'],
  [`key sk-${'ant-'}Ab3dEf6hIj9lMn2pQr5t of alice`, 'key sk-ant-…masked… of <user>'],
  ['a user of the project <host>', 'a user of the project <host>'],
])('%j becomes %j', (text, redacted) => {
  expect(redactor(ALICE)(text)).toBe(redacted)
})

test('for a folder with two roles, the project wins', () => {
  expect(redactor({ ...ALICE, project: ['/home/alice/'] })('in /home/alice')).toBe('in <project>')
})

describe('common names stay', () => {
  const root: Personal = { project: ['/code'], ralph: [], home: ['/root'], user: ['root', 'node'], host: ['localhost'] }

  test.each([
    ['node --test as root on localhost', 'node --test as root on localhost'],
    ['/root/.config and /code/src/a.ts', '~/.config and <project>/src/a.ts'],
    ['src/root.ts, src/code/a.ts, /codespace', 'src/root.ts, src/code/a.ts, /codespace'],
  ])('%j becomes %j', (text, redacted) => {
    expect(redactor(root)(text)).toBe(redacted)
  })

  test('the root folder and empty names match nothing', () => {
    const nobody: Personal = { project: ['/'], ralph: [''], home: ['/'], user: ['', 'j'], host: [''] }
    expect(redactor(nobody)('/a/j for all')).toBe('/a/j for all')
  })
})

test('no text keeps the home folder, the user, the host, an address or a secret', () => {
  const name = fc.stringMatching(/^[a-z]{4}[a-z0-9]{2,6}$/).filter((text) => !/^(?:project|masked)/.test(text))
  const secret = fc.stringMatching(/^[A-Z][0-9][A-Za-z0-9]{20}$/).map((body) => `ghp_${body}`)
  const planted = fc.record({ user: name, host: name, secret, noise: fc.array(fc.string(), { minLength: 8 }) })
  fc.assert(
    fc.property(planted, fc.array(fc.nat(6), { maxLength: 12 }), ({ user, host, secret: key, noise }, order) => {
      const home = `/home/${user}`
      const parts = [home, `${home}/app/a.ts`, `${home}/.ralph`, ` ${user} `, ` ${host}`, ` ${key} `, `${user}@x.org`]
      const text = order.map((part, at) => `${noise[at % noise.length]}/${parts[part]}`).join('')
      const redact = redactor({
        project: [`${home}/app`],
        ralph: [`${home}/.ralph`],
        home: [home],
        user: [user],
        host: [host],
      })
      const value = shareable({ words: text, list: [{ text }, text], [text]: 1 }, redact)
      const words = JSON.stringify(value)
      expect(words).not.toContain(home)
      expect(words).not.toContain(key.slice(4))
      expect(words).not.toMatch(new RegExp(`(?<![a-z0-9])${user}(?![a-z0-9])`))
    }),
  )
})

test('a long text without matches is fast', () => {
  const long = 'aB3+'.repeat(500_000)
  const before = performance.now()
  expect(redactor(ALICE)(long)).toBe(long)
  expect(performance.now() - before).toBeLessThan(3_000)
})
