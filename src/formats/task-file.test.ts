import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTaskFile, type TaskHead } from './task-file.ts'
import { wrapPrompt } from './wrapped-prompt.ts'

const BODY = 'Write the proposal.\n\n- [ ] outline\n- [ ] text\n'

const FULL = `---
type: email
from: "a@example.org"
subject: Re: proposal # 3
agent: claude,codex
max_iterations: 5
timeout_minutes: 15.5
max_cost_usd: 2.5
verify:
  - npm test
  - 'node check.js "a b"'
priority: high
tags: [work, "late, very"]
---

${BODY}`

function headOf(...lines: string[]): TaskHead {
  return parseTaskFile(['---', ...lines, '---', '', BODY].join('\n'), 'x.md').head
}

test('a task says what to do and how', () => {
  expect(parseTaskFile(FULL, 'x.md')).toEqual({
    head: {
      agent: 'claude,codex',
      maxIterations: 5,
      timeoutMinutes: 15.5,
      maxCostUsd: 2.5,
      priority: 2,
      checks: ['npm test', 'node check.js "a b"'],
    },
    body: BODY,
  })
})

test.each<[what: string, text: string]>([
  ['a byte order mark', `\uFEFF${FULL}`],
  ['line ends of Windows', FULL.replaceAll('\n', '\r\n')],
  ['both', `\uFEFF${FULL.replaceAll('\n', '\r\n')}`],
  ['blanks behind its ends', FULL.replaceAll(/^---$/gm, '--- \t')],
  ['no empty line before the text', FULL.replace('---\n\n', '---\n')],
])('frontmatter is the same with %s', (_, text) => {
  const { head, body } = parseTaskFile(text, 'x.md')
  expect({ head, body: body.replaceAll('\r\n', '\n') }).toEqual(parseTaskFile(FULL, 'x.md'))
})

describe('a wrapped prompt', () => {
  const wrapped = wrapPrompt('Write the proposal.', { maxIterations: 4, promise: 'DONE' })

  test('sets the limit, and only its task is the prompt', () => {
    expect(parseTaskFile(wrapped, 'x.md')).toEqual({
      head: { priority: 1, maxIterations: 4 },
      body: 'Write the proposal.',
    })
  })

  test('is overridden by the frontmatter', () => {
    expect(parseTaskFile(`---\nmax_iterations: 7\n---\n${wrapped}`, 'x.md')).toEqual({
      head: { priority: 1, maxIterations: 7 },
      body: 'Write the proposal.',
    })
  })

  test.each([0, 1e9, 1e20])('is ignored with an impossible limit: %d', (maxIterations) => {
    const text = wrapPrompt('Write it.', { maxIterations, promise: 'DONE' })
    expect(parseTaskFile(text, 'x.md')).toEqual({ head: { priority: 1 }, body: 'Write it.' })
  })
})

describe('without frontmatter, the whole text is the task', () => {
  test.each<[what: string, text: string]>([
    ['a text', BODY],
    ['nothing', ''],
    ['a line of Markdown', '---\nWrite it.\n'],
    ['a line of Markdown, and a word with a colon', '---\nNote: write it.\n'],
    ['lines of Markdown', '---\nWrite it.\n---\nAnd print it.\n'],
    ['a text with lines of Markdown in it', 'Write it.\n---\nagent: claude\n---\n'],
    ['line ends of Windows', 'Write it.\r\nPrint it.\r\n'],
  ])('%s', (_, text) => {
    expect(parseTaskFile(text, 'x.md')).toEqual({ head: { priority: 1 }, body: text })
  })

  test('except for its byte order mark', () => {
    expect(parseTaskFile(`\uFEFF${BODY}`, 'x.md').body).toBe(BODY)
  })
})

test.each<[what: string, text: string]>([
  ['is never closed', '---\nagent: claude\n\nWrite it.\n'],
  ['is never closed, with nothing below it', '---\nfrom: somebody\nmax_iterations: 3\n'],
  ['is closed by something else', '---\nagent: claude\n----\nWrite it.\n'],
])('a head that %s is refused, so that no limit is silently ignored', (_, text) => {
  expect(() => parseTaskFile(text, 'x.md')).toThrow('x.md: its frontmatter starts with --- but never ends.')
})

test.each<[what: string, text: string]>([
  ['empty lines before it', `\n \r\n${FULL}`],
  ['dots at its end', FULL.replace(/^---$(?![\s\S]*^---$)/m, '...')],
])('a head with %s is a head', (_, text) => {
  expect(parseTaskFile(text, 'x.md')).toEqual(parseTaskFile(FULL, 'x.md'))
})

test.each<[what: string, text: string, body: string]>([
  ['lines of Markdown', '---\nagent: claude\n---\nOne\n---\ntwo: 2\n---\nthree', 'One\n---\ntwo: 2\n---\nthree'],
  ['nothing', '---\nagent: claude\n---', ''],
  ['nothing but a line end', '---\nagent: claude\n---\n', ''],
])('the text may have %s', (_, text, body) => {
  expect(parseTaskFile(text, 'x.md')).toEqual({ head: { agent: 'claude', priority: 1 }, body })
})

test.each<[lines: string[], head: Partial<TaskHead>]>([
  [[], {}],
  [['# nothing', ''], {}],
  [['agent: claude'], { agent: 'claude' }],
  [['agent:claude'], { agent: 'claude' }],
  [['agent : claude \t'], { agent: 'claude' }],
  [['"agent": claude'], { agent: 'claude' }],
  [['Agent: claude'], { agent: 'claude' }],
  [['agent: claude # the best'], { agent: 'claude' }],
  [['agent: "claude" # the best'], { agent: 'claude' }],
  [["agent: 'claude'"], { agent: 'claude' }],
  [['agent: claude, codex'], { agent: 'claude,codex' }],
  [['agent: [claude, "codex"] # both'], { agent: 'claude,codex' }],
  [['agent:', '- claude', '- codex'], { agent: 'claude,codex' }],
  [['agent:'], {}],
  [['agent: ~'], {}],
  [['agent: null # none'], {}],
  [['agent: ""'], {}],
  [['agent: # none'], {}],
  [['#agent: claude'], {}],
  [['meta:', '  agent: command:./x', '  max_iterations: many'], {}],
  [['notes: |', '  agent: command:./x', '', '  max_iterations: many', 'agent: pi'], { agent: 'pi' }],
  [['people:', '- agent: command:./x', '- max_iterations: many'], {}],
  [['agent: pi', 'Due date: tomorrow', 'größe: 3', 'https://example.org/'], { agent: 'pi' }],
  [['__proto__: x', 'constructor: y'], {}],
  [['max_iterations: 1'], { maxIterations: 1 }],
  [['max_iterations: "012"'], { maxIterations: 12 }],
  [['max-iterations: 3'], { maxIterations: 3 }],
  [['timeout_minutes: .5'], { timeoutMinutes: 0.5 }],
  [['timeout_minutes: 525600'], { timeoutMinutes: 525_600 }],
  [['max_cost_usd: 3'], { maxCostUsd: 3 }],
  [['verify: npm test'], { checks: ['npm test'] }],
  [['verify: npm test # all of them'], { checks: ['npm test'] }],
  [['verify: "npm test # all"'], { checks: ['npm test # all'] }],
  [['verify: node a.js#b'], { checks: ['node a.js#b'] }],
  [['verify: "sh -c \'a && b\'"'], { checks: ["sh -c 'a && b'"] }],
  [["verify: sh -c 'a && b'"], { checks: ["sh -c 'a && b'"] }],
  [['verify: "./my prog" --flag "x"'], { checks: ['"./my prog" --flag "x"'] }],
  [[String.raw`verify: "grep \d x"`], { checks: [String.raw`grep \d x`] }],
  [['verify: [npm test, "node -e \\"1,2\\"", ]'], { checks: ['npm test', 'node -e "1,2"'] }],
  [['verify: []'], { checks: [] }],
  [['verify:', '  # first', '  - npm test', '', '  -   "make: all" # then'], { checks: ['npm test', 'make: all'] }],
  [['checks: npm test'], { checks: ['npm test'] }],
  [['require: verified'], { require: 'verified' }],
  [['protect: spec/**'], { protect: ['spec/**'] }],
  [
    ['protect: ["spec/**", e2e]', 'may-change:', '  - "*.snap"'],
    { protect: ['spec/**', 'e2e'], mayChange: ['*.snap'] },
  ],
  [['checks: make', 'verify: npm test'], { checks: ['npm test', 'make'] }],
  [['priority: urgent'], { priority: 3 }],
  [['priority: High'], { priority: 2 }],
  [['priority: medium'], { priority: 1 }],
  [['priority: normal'], { priority: 1 }],
  [['priority: low'], { priority: 0 }],
  [['priority: 7'], { priority: 7 }],
  [['priority: -2'], { priority: -2 }],
  [['priority:'], { priority: 1 }],
])('%j', (lines, head) => {
  expect(headOf(...lines)).toEqual({ priority: 1, ...head })
})

const AGENT =
  'agent must be an agent name such as claude, or several, as in claude,codex (a task file cannot name other programs)'
const VERIFY = "verify must be a command or a list of commands, each on one line (shell syntax needs sh -c '…')"
const GLOBS = 'must be a glob or a list of globs such as "test/**" (every bracket closed, no "..")'
const PRIORITY = 'priority must be urgent, high, medium, normal, low or a whole number'

test.each<[lines: string[], sentence: string]>([
  [['agent: command:./x'], `${AGENT}, got "command:./x".`],
  [['agent: "acp:evil"'], `${AGENT}, got "acp:evil".`],
  [['agent: claude,command:./x'], `${AGENT}, got "claude,command:./x".`],
  [['agent: [claude, "scripted:x"]'], `${AGENT}, got ["claude","scripted:x"].`],
  [['agent: ../x'], `${AGENT}, got "../x".`],
  [['agent: Claude Code'], `${AGENT}, got "Claude Code".`],
  [['agent: claude,'], `${AGENT}, got "claude,".`],
  [['agent: []'], `${AGENT}, got [].`],
  [['agent: [claude'], `${AGENT}, got "[claude".`],
  [['agent: [[claude]]'], `${AGENT}, got "[[claude]]".`],
  [['agent: [claude,,codex]'], `${AGENT}, got "[claude,,codex]".`],
  [['agent: [claude] codex'], `${AGENT}, got "[claude] codex".`],
  [['agent:', '  name: claude'], `${AGENT}, got "name: claude".`],
  [['agent: claude', 'agent: codex'], `${AGENT}, got "claude codex".`],
  [['max_iterations: 0'], 'max_iterations must be a whole number above 0, got "0".'],
  [['max_iterations: -3'], 'max_iterations must be a whole number above 0, got "-3".'],
  [['max_iterations: 1.5'], 'max_iterations must be a whole number above 0, got "1.5".'],
  [['max_iterations: auto'], 'max_iterations must be a whole number above 0, got "auto".'],
  [['max_iterations: 1e3'], 'max_iterations must be a whole number above 0, got "1e3".'],
  [['max_iterations: [3]'], 'max_iterations must be a whole number above 0, got ["3"].'],
  [['timeout_minutes: 0'], 'timeout_minutes must be a number above 0, at most 525600, got "0".'],
  [['timeout_minutes: 30m'], 'timeout_minutes must be a number above 0, at most 525600, got "30m".'],
  [['timeout_minutes: 525601'], 'timeout_minutes must be a number above 0, at most 525600, got "525601".'],
  [['max_cost_usd: 0.0'], 'max_cost_usd must be a number above 0, got "0.0".'],
  [['max_cost_usd: $5'], 'max_cost_usd must be a number above 0, got "$5".'],
  [['max_cost_usd: Infinity'], 'max_cost_usd must be a number above 0, got "Infinity".'],
  [['verify: a && b'], `${VERIFY}, got "a && b".`],
  [['verify: "a'], `${VERIFY}, got "\\"a".`],
  [['verify: "a\\u0000b"'], `${VERIFY}, got "a\\u0000b".`],
  [['verify: [a, " "]'], `${VERIFY}, got ["a"," "].`],
  [['verify:', '-', '- a'], `${VERIFY}, got ["","a"].`],
  [['verify: |', '  npm test'], `${VERIFY}, got "| npm test".`],
  [['verify: npm test', '  --all'], `${VERIFY}, got "npm test --all".`],
  [['verify: npm test', '- make'], `${VERIFY}, got "npm test - make".`],
  [['require: best'], 'require must be one of verified, tested, kept, got "best".'],
  [['require: [kept]'], 'require must be one of verified, tested, kept, got ["kept"].'],
  [['protect: [a, ""]'], `protect ${GLOBS}, got ["a",""].`],
  [['protect: ""'], `protect ${GLOBS}, got "".`],
  [["may_change: '' # later"], `may_change ${GLOBS}, got "".`],
  [['protect: [5]'], `protect ${GLOBS}, got ["5"].`],
  [['protect:', '  - 5'], `protect ${GLOBS}, got ["5"].`],
  [['protect: true'], `protect ${GLOBS}, got "true".`],
  [['protect: "["'], `protect ${GLOBS}, got "[".`],
  [['may_change: ../x'], `may_change ${GLOBS}, got "../x".`],
  [['may_change: |', '  a'], `may_change ${GLOBS}, got "| a".`],
  [['checks: a | b'], `${VERIFY.replace('verify', 'checks')}, got "a | b".`],
  [['priority: soon'], `${PRIORITY}, got "soon".`],
  [['priority: 1.5'], `${PRIORITY}, got "1.5".`],
  [['priority: constructor'], `${PRIORITY}, got "constructor".`],
])('%j is refused', (lines, sentence) => {
  const text = ['---', ...lines, '---', BODY].join('\n')
  expect(() => parseTaskFile(text, 'Needs_Action/x.md')).toThrow(
    expect.objectContaining({ code: 'input-invalid', message: `Needs_Action/x.md: ${sentence}` }),
  )
})

describe('any text', () => {
  const pieces = fc.array(
    fc.constantFrom(
      ...['---', '\n', '\r\n', ' ', '- ', '[', ']', ',', '"', "'", '#', ':', '\\', '\u2028', 'a', '3', 'null'],
      ...['agent', 'verify', 'priority', 'max_iterations'],
    ),
    { maxLength: 30 },
  )

  test('is read, or refused in a sentence', () => {
    fc.assert(
      fc.property(pieces, (some) => {
        try {
          parseTaskFile(`---\n${some.join('')}\n---\n`, 'x.md')
        } catch (error) {
          expect(error).toMatchObject({ name: 'RalphError', code: 'input-invalid' })
        }
      }),
      { numRuns: 2_000 },
    )
  })

  test('is the task, if the frontmatter before it is closed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (body) => {
        expect(parseTaskFile(`---\nagent: pi\n---\n\n${body}`, 'x.md').body).toBe(body)
      }),
    )
  })

  test.each<[what: string, line: string]>([
    ['digits', `${'9'.repeat(200_000)}x`],
    ['blanks', `[a${' '.repeat(200_000)}`],
    ['quotes', `'${"'".repeat(200_001)}x`],
    ['signs', `${' #'.repeat(100_000)}`],
    ['brackets', '['.repeat(200_000)],
  ])('is read quickly, even 200 KB of %s', (_, line) => {
    const begun = performance.now()
    for (const key of ['timeout_minutes', 'verify', 'agent', 'other'])
      try {
        headOf(`${key}: ${line}`)
      } catch (error) {
        expect(error).toMatchObject({ code: 'input-invalid' })
      }
    expect(performance.now() - begun).toBeLessThan(2_000)
  })
})
