import { expect, test } from 'vitest'
import { chooseAgent, type Found } from './choose.ts'

const claude: Found = { name: 'claude', login: 'unknown' }
const codex: Found = { name: 'codex', login: 'yes' }
const gemini: Found = { name: 'gemini', login: 'no' }

test.each<[story: string, found: Found[], finished: [string, number][], name: string | undefined, why: string]>([
  ['the only one', [claude], [], 'claude', 'the only one installed'],
  [
    'who is logged in before who may be',
    [claude, codex],
    [],
    'codex',
    'first that is logged in; also installed: claude',
  ],
  ['the first, if no login is known', [claude, { ...codex, login: 'unknown' }], [], 'claude', 'first one installed'],
  ['one that has completed loops here', [claude, codex], [['claude', 3]], 'claude', 'completed 3 loops here'],
  [
    'who has finished most',
    [claude, codex],
    [
      ['claude', 1],
      ['codex', 2],
    ],
    'codex',
    'completed 2 loops here',
  ],
  ['never one that is not logged in', [gemini, claude], [['gemini', 9]], 'claude', 'the only one installed'],
  ['none, if none is installed', [], [['claude', 3]], undefined, ''],
])('chooses %s', (_, found, finished, name, why) => {
  const chosen = chooseAgent(found, new Map(finished))
  expect(chosen?.name).toBe(name)
  expect(chosen?.why ?? '').toContain(why)
})
