import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RalphError } from '../error.ts'
import { parseCrewConfig, parseRalphSection } from './crew-config.ts'

const lines = (...all: string[]) => `${all.join('\n')}\n`
const parse = (text: string) => parseCrewConfig(text, 'config.yaml')
const empty = { ralph: {}, agents: [] }

test("reads the dispatcher's file", () => {
  const text = lines(
    'ralph:',
    '  enabled: true',
    '  max_iterations: 10',
    '  completion_signals:',
    '    - "TASK_COMPLETE"',
    '    - "All tests passing"',
    '  circuit_breaker:',
    '    no_progress_limit: 3',
    '    cooldown_minutes: 0',
    '  proof: off',
    'agents:',
    '- name: Council',
    '- name: research-2',
    '  agent: scripted:demo.json',
    '  folder: ../research',
    '  worktree: true',
    '  model: opus',
    '  permissions: ask',
    '  args: [--search, "3"]',
    '  checks: npm test',
    '  setup: npm ci',
    '  ralph:',
    '    enabled: false',
    '    circuit_breaker: { same_error_limit: 2 }',
    '- { name: 3rd, checks: [npm test, auto] }',
    'other: { anything: [goes] }',
  )
  expect(parse(text)).toEqual({
    ralph: {
      enabled: true,
      max_iterations: 10,
      completion_signals: ['TASK_COMPLETE', 'All tests passing'],
      circuit_breaker: { no_progress_limit: 3, cooldown_minutes: 0 },
      proof: 'off',
    },
    agents: [
      { name: 'Council', line: 12 },
      {
        name: 'research-2',
        agent: 'scripted:demo.json',
        dir: '../research',
        worktree: true,
        model: 'opus',
        permissions: 'ask',
        args: ['--search', '3'],
        checks: ['npm test'],
        setup: 'npm ci',
        ralph: { enabled: false, circuit_breaker: { same_error_limit: 2 } },
        line: 13,
      },
      { name: '3rd', checks: ['npm test', 'auto'], line: 25 },
    ],
  })
})

test.each<[what: string, text: string, read: object]>([
  ['nothing', '', empty],
  ['a comment', '# later\n', empty],
  ['a section that is all comments', 'ralph:\n  # max_iterations: 3\nagents:\n', empty],
  ['a breaker that is all comments', 'ralph:\n  circuit_breaker:\n', { ralph: { circuit_breaker: {} }, agents: [] }],
  ['other programs only', 'graph: 1\nevents: [2]\nagency: 3\nx: *nothing\n', empty],
  ['a byte order mark and line ends of Windows', '\uFEFFralph:\r\n  max_iterations: 3\r\n', three()],
  ['one document with its marks', '%YAML 1.1\n---\nralph:\n  max_iterations: 3\n...\n', three()],
  ['keys in quotes', '"ralph":\n  "max_iterations": 3\n', three()],
  ['other ways to write a number', 'ralph: { max_iterations: 0x3 }\n', three()],
  ['an anchor that nobody uses', 'ralph: &r\n  max_iterations: 3\n', three()],
  ['a tag of YAML itself', 'ralph:\n  agent: !!str 3\n', { ralph: { agent: '3' }, agents: [] }],
  ['words that were truth values once', 'ralph:\n  agent: no\n', { ralph: { agent: 'no' }, agents: [] }],
])('%s is valid', (_, text, read) => {
  expect(parse(text)).toEqual(read)
})

function three(): object {
  return { ralph: { max_iterations: 3 }, agents: [] }
}

const RALPH =
  'enabled, agent, max_iterations, completion_promise, completion_signals, verify, timeout_minutes, max_cost_usd, max_total_cost_usd, overload_minutes, on_limit, notify_webhook, worktree_files, worktree_setup, proof, require, protect, may_change, proof_minutes, proof_setup, mcp, sandbox, sandbox_allow, transcript_mb, circuit_breaker'
const BREAKER = 'no_progress_limit, same_error_limit, cooldown_minutes'
const AGENT = 'name, agent, folder, worktree, model, permissions, args, checks, setup, ralph'
const NAME = 'name of agent 1 must be up to 31 letters, digits, "_" and "-", and not just digits'
const COMMAND = "a command, run without a shell (for && and the like, use a script or sh -c '…')"

const WRONG: [text: string, says: string][] = [
  // the file
  ['- ralph\n', '1:1: the file must be a mapping, got a list.'],
  ['ralph\n', '1:1: the file must be a mapping, got the string "ralph".'],
  ['{ralph: {}}\n', '1:1: the file must not be wrapped in braces. Put each key on its own line.'],
  ['ralph:\n\tproof: off\n', '2:1: not valid YAML: tabs are not allowed as indentation. Use spaces.'],
  ['a: 1\n---\nb: 2\n', '2:1: not valid YAML: a second document starts here. Keep only one.'],
  [
    'ralph:\n  proof: off\n   agent: pi\n',
    '2:10: not valid YAML: two keys on one line, or a key below that is indented too far. Align the keys, or quote a value that contains ": ".',
  ],
  [
    'ralph: [\n',
    '2:1: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ].',
  ],
  // sections
  ['Ralph:\n', '1:1: Ralph is unknown; did you mean "ralph"?'],
  ['agent:\n', '1:1: agent is unknown; did you mean "agents"?'],
  ['agents:\nralph:\nagents:\n', '3:1: agents is set twice. Keep one.'],
  ['ralph: 3\n', '1:8: ralph must be a mapping, got the number 3.'],
  // keys of ralph:
  [
    'ralph:\n  max_iteration: 3\n',
    `2:3: ralph.max_iteration is unknown; did you mean "max_iterations"? Known: ${RALPH}.`,
  ],
  ['ralph:\n  state_dir: x\n', `2:3: ralph.state_dir is unknown. Known: ${RALPH}.`],
  ['ralph:\n  __proto__: x\n', `2:3: ralph.__proto__ is unknown. Known: ${RALPH}.`],
  ['ralph:\n  proof: off\n  proof: full\n', '3:3: ralph.proof is set twice. Keep one.'],
  ['ralph:\n  ? [a]\n  : b\n', '2:5: a key of ralph must be a string, got a list.'],
  ['ralph:\n  circuit_breaker: 3\n', '2:20: ralph.circuit_breaker must be a mapping, got the number 3.'],
  [
    'ralph:\n  circuit_breaker:\n    no_progres_limit: 3\n',
    `3:5: ralph.circuit_breaker.no_progres_limit is unknown; did you mean "no_progress_limit"? Known: ${BREAKER}.`,
  ],
  // values
  [
    'ralph:\n  max_iterations: "10"\n',
    '2:19: ralph.max_iterations must be a whole number or "auto", got the string "10". Remove the quotes.',
  ],
  ['ralph:\n  enabled: yes\n', '2:12: ralph.enabled must be true or false, got the string "yes". Write true.'],
  ['ralph:\n  enabled: maybe\n', '2:12: ralph.enabled must be true or false, got the string "maybe".'],
  ['ralph:\n  agent: 3\n', '2:10: ralph.agent must be a string, got the number 3. Put it in quotes.'],
  ['ralph:\n  agent: true\n', '2:10: ralph.agent must be a string, got true. Put it in quotes.'],
  ['ralph:\n  agent: []\n', '2:10: ralph.agent must be a string, got a list.'],
  ['ralph:\n  max_cost_usd:\n', '2:3: ralph.max_cost_usd must be a non-negative number, got empty.'],
  [
    'ralph:\n  max_cost_usd: .inf\n',
    '2:17: ralph.max_cost_usd must be a non-negative number, got the number Infinity.',
  ],
  [
    'ralph:\n  timeout_minutes: 30m\n',
    '2:20: ralph.timeout_minutes must be a non-negative number, got the string "30m".',
  ],
  [
    'ralph:\n  circuit_breaker: { cooldown_minutes: -1 }\n',
    '2:40: ralph.circuit_breaker.cooldown_minutes must be a non-negative number, got the number -1.',
  ],
  [
    'ralph:\n  verify: npm test\n',
    '2:11: ralph.verify must be a list of commands, got the string "npm test". Start each item with "- ".',
  ],
  [
    'ralph:\n  completion_signals:\n    - DONE\n    - 10\n',
    '4:7: item 2 of ralph.completion_signals must be a string, got the number 10. Put it in quotes.',
  ],
  [
    'ralph:\n  completion_signals:\n    - Done: all\n',
    '3:7: item 1 of ralph.completion_signals must be a string, got a mapping.',
  ],
  [
    'ralph:\n  protect: ["a/**", "["]\n',
    '2:21: item 2 of ralph.protect must be a glob such as "test/**" (every bracket closed, no ".."), got the string "[".',
  ],
  ['ralph:\n  agent: *one\n', '2:10: ralph.agent is the alias *one. Aliases are not supported: write the value out.'],
  ['ralph:\n  <<: *all\n', '2:7: ralph.<< is the alias *all. Aliases are not supported: write the value out.'],
  [
    'ralph:\n  verify: [&a x, *a]\n',
    '2:18: item 2 of ralph.verify is the alias *a. Aliases are not supported: write the value out.',
  ],
  ['ralph:\n  agent: !env X\n', '2:15: ralph.agent has the tag !env. Tags are not supported: write the plain value.'],
  // agents:
  ['agents: { a: 1 }\n', '1:9: agents must be a list, got a mapping. Start each item with "- ".'],
  ['agents:\n  - Council\n', '2:5: agent 1 must be a mapping, got the string "Council".'],
  ['agents:\n  - folder: x\n', '2:5: agent 1 has no name. Add "name: …".'],
  ['agents:\n  - name: 1\n', `2:11: ${NAME}, got the number 1.`],
  ['agents:\n  - name: "007"\n', `2:11: ${NAME}, got the string "007".`],
  ['agents:\n  - name: -x\n', `2:11: ${NAME}, got the string "-x".`],
  ['agents:\n  - name: my agent\n', `2:11: ${NAME}, got the string "my agent".`],
  [
    'agents:\n  - name: Bob\n  - name: Al\n  - name: bob\n',
    '4:5: agent 3 is named "bob", as is agent 1. Names must be unique, ignoring case.',
  ],
  ['agents:\n  - name: a\n    dir: b\n', `3:5: dir of agent 1 is unknown. Known: ${AGENT}.`],
  ['agents:\n  - name: a\n    folde: b\n', `3:5: folde of agent 1 is unknown; did you mean "folder"? Known: ${AGENT}.`],
  [
    'agents:\n  - name: a\n    folder: ""\n',
    '3:13: folder of agent 1 must be the path of a folder, got the string "".',
  ],
  [
    'agents:\n  - name: a\n    worktree: on\n',
    '3:15: worktree of agent 1 must be true or false, got the string "on". Write true.',
  ],
  [
    'agents:\n  - name: a\n    permissions: all\n',
    '3:18: permissions of agent 1 must be ask or bypass, got the string "all".',
  ],
  [
    'agents:\n  - name: a\n    args: --x\n',
    '3:11: args of agent 1 must be a list of strings, got the string "--x". Start each item with "- ".',
  ],
  ['agents:\n  - name: a\n    setup: a && b\n', `3:12: setup of agent 1 must be ${COMMAND}, got the string "a && b".`],
  [
    'agents:\n  - name: a\n    checks: a && b\n',
    '3:13: checks of agent 1 must be a command or a list of commands, got the string "a && b".',
  ],
  [
    'agents:\n  - name: a\n    checks: [a, b | c]\n',
    `3:17: item 2 of checks of agent 1 must be ${COMMAND}, got the string "b | c".`,
  ],
  [
    'agents:\n  - name: a\n    ralph: { notify_webhook: x }\n',
    '3:14: ralph.notify_webhook of agent 1 does not belong here. It applies to all agents: move it to the "ralph:" section.',
  ],
  [
    'agents:\n  - name: a\n    ralph: { agent: x }\n',
    '3:14: ralph.agent of agent 1 does not belong here. Write "agent: …" next to the name.',
  ],
  [
    'agents:\n  - name: a\n    ralph: { circuit_breaker: { limit: 1 } }\n',
    `3:33: ralph.circuit_breaker.limit of agent 1 is unknown. Known: ${BREAKER}.`,
  ],
]

describe('invalid files', () => {
  test.each(WRONG)('%j', (text, says) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'input-invalid', message: `config.yaml:${says}` }),
    )
  })

  test('one that is too large is not read', () => {
    expect(() => parse('#'.repeat(1_000_001))).toThrow(
      'config.yaml: the file has 1000001 characters; the limit is 1000000.',
    )
  })

  test('one that is nested too deeply is invalid', () => {
    // Where the library gives up depends on how much room is left.
    expect(() => parse('['.repeat(50_000))).toThrow(/^config\.yaml:1:\d+: not valid YAML: it is nested too deeply\.$/)
  })

  test('a long key is cut short', () => {
    expect(() => parse(`ralph:\n  ? ${'k'.repeat(5_000)}\n  : 1\n`)).toThrow(`ralph.${'k'.repeat(59)}… is unknown.`)
  })
})

test('only the ralph: section is read if nothing else is needed', () => {
  const text = 'agent: x\nagents: { of: another program }\nralph:\n  max_iterations: 3\n'
  expect(parseRalphSection(text, 'config.yaml')).toEqual({ max_iterations: 3 })
  expect(parseRalphSection('agents: 3\n', 'config.yaml')).toEqual({})
  expect(() => parseRalphSection('ralph: 3\n', 'config.yaml')).toThrow('config.yaml:1:8: ralph must be a mapping')
})

describe('no text makes it fail in any other way', () => {
  const word = fc.constantFrom(
    ...['ralph', 'agents', 'name', 'verify', 'circuit_breaker', 'max_iterations', 'checks', 'x', '3', '&a', '*a', '!t'],
    ...[
      '- ',
      ': ',
      '? ',
      '\n',
      '\n  ',
      '\n    ',
      '\t',
      '[',
      ']',
      '{',
      '}',
      ',',
      '"',
      "'",
      '|',
      '>',
      '#',
      '---',
      '<<',
      '%',
    ],
  )
  const text = fc.oneof(
    fc.array(word, { maxLength: 40 }).map((words) => words.join('')),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.json().map((json) => `ralph: ${json}\nagents: ${json}\n`),
  )

  test('whatever it is', () => {
    fc.assert(
      fc.property(text, (written) => {
        try {
          parse(written)
        } catch (error) {
          expect(error).toBeInstanceOf(RalphError)
          expect(String(error)).toMatch(/config\.yaml:\d+:\d+: \S/)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['as many keys as fit', Array.from({ length: 10_000 }, (_, index) => `k${index}: 1`).join('\n')],
    ['as many agents', `agents:\n${Array.from({ length: 5_000 }, (_, index) => `- name: a${index}`).join('\n')}`],
    ['many brackets', '['.repeat(50_000)],
    ['a long line', `ralph:\n  agent: ${'x'.repeat(900_000)}`],
    [
      'aliases of aliases',
      `a0: &a0 x\n${Array.from({ length: 500 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`).join('\n')}\n`,
    ],
  ])('%s takes a few seconds at most', (_, written) => {
    const began = performance.now()
    try {
      parse(written)
    } catch (error) {
      expect(error).toBeInstanceOf(RalphError)
    }
    expect(performance.now() - began).toBeLessThan(5_000)
  })
})

describe('config/config.yaml.example', () => {
  const example = readFileSync('config/config.yaml.example', 'utf8')

  test('is read, with the values of the dispatcher first', () => {
    const { ralph, agents } = parse(example)
    expect(Object.entries(ralph).slice(0, 4)).toEqual([
      ['enabled', true],
      ['max_iterations', 10],
      ['completion_signals', ['TASK_COMPLETE', 'All tests passing', 'Ready for review']],
      ['circuit_breaker', { no_progress_limit: 3, same_error_limit: 5, cooldown_minutes: 30 }],
    ])
    expect(agents.map(({ name }) => name)).toEqual(['Council', 'Research'])
  })

  test('has every key', () => {
    const known = (text: string) => /Known: (.*)\.$/.exec(messageOf(text))?.[1]?.split(', ').sort()
    const { ralph, agents } = parse(example)
    expect(Object.keys(ralph).sort()).toEqual(known('ralph:\n  unknown_key: 1\n'))
    expect(Object.keys(ralph.circuit_breaker ?? {}).sort()).toEqual(
      known('ralph:\n  circuit_breaker:\n    unknown_key: 1\n'),
    )
    const { line: _, dir: __, ...keys } = Object.assign({}, ...agents)
    expect([...Object.keys(keys), 'folder'].sort()).toEqual(known('agents:\n  - unknown_key: 1\n'))
  })
})

function messageOf(text: string): string {
  try {
    parse(text)
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}
