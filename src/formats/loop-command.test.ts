import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type LoopCommand, parseLoopCommand } from './loop-command.ts'

function parsed(text: string): Partial<LoopCommand> {
  const { checks, ...command } = parseLoopCommand(text)
  return checks.length > 0 ? { ...command, checks } : command
}

describe('options come before or after the prompt', () => {
  test.each<[text: string, command: Partial<LoopCommand>]>([
    ['Build it', { prompt: 'Build it' }],
    ['Build it --max-iterations 3', { prompt: 'Build it', maxIterations: 3 }],
    ['Build it --max-iterations=3', { prompt: 'Build it', maxIterations: 3 }],
    ['--max-iterations 3 Build it', { prompt: 'Build it', maxIterations: 3 }],
    ['--max-iterations=3 Build it', { prompt: 'Build it', maxIterations: 3 }],
    ['--max-iterations 3 Build it --completion-promise X', { prompt: 'Build it', maxIterations: 3, promise: 'X' }],
    ['Build it --max-iterations 08', { prompt: 'Build it', maxIterations: 8 }],
    ['Build it --max-iterations "5"', { prompt: 'Build it', maxIterations: 5 }],
    ['Build it --max-iterations 0', { prompt: 'Build it', maxIterations: 0 }],
    ['Build it --max-iterations 3 --max-iterations 4', { prompt: 'Build it', maxIterations: 4 }],
    ['Build it --completion-promise "ALL DONE"', { prompt: 'Build it', promise: 'ALL DONE' }],
    ['Build it --completion-promise="ALL DONE"', { prompt: 'Build it', promise: 'ALL DONE' }],
    [`Build it --completion-promise='say "done"'`, { prompt: 'Build it', promise: 'say "done"' }],
    ['Build it --completion-promise "say \\"done\\""', { prompt: 'Build it', promise: 'say "done"' }],
    ['Build it --verify "npm test" --verify=lint', { prompt: 'Build it', checks: ['npm test', 'lint'] }],
    ['Build it --verify auto', { prompt: 'Build it', checks: ['auto'] }],
    [`Build it --verify "sh -c 'a | b'"`, { prompt: 'Build it', checks: [`sh -c 'a | b'`] }],
    ['Build it --timeout 1.5', { prompt: 'Build it', timeoutMinutes: 1.5 }],
    ['Build it --max-tokens 50000', { prompt: 'Build it', maxTokens: 50_000 }],
    ['Build it --context fresh', { prompt: 'Build it', context: 'fresh' }],
    ['Build it --context process --subagent worker', { prompt: 'Build it', context: 'process', subagents: ['worker'] }],
    ['Build it --require tested --proof=seal', { prompt: 'Build it', require: 'tested', proof: 'seal' }],
    [
      'Build it --protect "spec/**" --protect e2e --may-change *.snap',
      { prompt: 'Build it', protect: ['spec/**', 'e2e'], mayChange: ['*.snap'] },
    ],
    ['--file task.md', { prompt: '', file: 'task.md' }],
    ['--file "my task.md" --timeout 3', { prompt: '', file: 'my task.md', timeoutMinutes: 3 }],
    ['  Build it  \n', { prompt: 'Build it' }],
    ['Build it\n--max-iterations 3', { prompt: 'Build it', maxIterations: 3 }],
  ])('%j', (text, command) => {
    expect(parsed(text)).toEqual(command)
  })
})

describe('what belongs to the prompt stays in it', () => {
  test.each([
    'explain what --verify does in general',
    'Fix the --timeout bug and test it',
    'run it with --verbose --dry-run',
    'support --x=y and -z and -- and ---',
    'add --color to the help',
    'line 1\n---\nline 2',
    `a $(touch x) \`y\` $\{z} \\ "q" 's' it's`,
    'say "hello --max-iterations 5" now',
    "don't",
    'two  blanks\tand a tab',
    '"quoted" and "again"',
    '"unclosed and on',
    'use --max-iterations 5 sparingly',
    'explain --verify --timeout to me',
  ])('%j', (prompt) => {
    expect(parsed(prompt)).toEqual({ prompt })
    expect(parsed(`${prompt} --max-iterations 2`)).toEqual({ prompt, maxIterations: 2 })
    expect(parsed(`--max-iterations=2 ${prompt}`)).toEqual({ prompt, maxIterations: 2 })
  })

  test('quotes around the whole prompt are removed, and protect what looks like an option', () => {
    expect(parsed('"Build it --max-iterations 3"')).toEqual({ prompt: 'Build it --max-iterations 3' })
    expect(parsed(`'Build "it"' --max-iterations 3`)).toEqual({ prompt: 'Build "it"', maxIterations: 3 })
    expect(parsed('"say \\"x\\" \\n"')).toEqual({ prompt: 'say "x" \\n' })
    expect(parsed('--max-iterations 3 "two\nlines"')).toEqual({ prompt: 'two\nlines', maxIterations: 3 })
  })

  test('a prompt without options arrives byte for byte', () => {
    const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter((text) => !/\s|--[a-z]/.test(text))
    const gap = fc.constantFrom(' ', '  ', '\n', '\n\n', '\t', '\n---\n')
    const texts = fc
      .array(fc.tuple(word, gap), { minLength: 1, maxLength: 10 })
      .map((pairs) => pairs.flat().slice(0, -1).join(''))
      .filter((text) => !/^(["']).*\1$/s.test(text))
    fc.assert(
      fc.property(texts, (prompt) => {
        expect(parseLoopCommand(prompt)).toEqual({ prompt, checks: [] })
        expect(parseLoopCommand(`${prompt} --max-iterations=7`)).toEqual({ prompt, checks: [], maxIterations: 7 })
      }),
      { numRuns: 150 },
    )
  })

  test.each(['word '.repeat(200_000), '"'.repeat(200_000), `" \\" `.repeat(50_000), "it's ".repeat(50_000)])(
    'a long one is read in one pass',
    (text) => {
      const begun = performance.now()
      expect(parseLoopCommand(`x ${text.trimEnd()} x`).prompt).toHaveLength(text.trimEnd().length + 4)
      expect(parseLoopCommand(`'${text.replaceAll("'", '')}' --timeout 3`).timeoutMinutes).toBe(3)
      expect(performance.now() - begun).toBeLessThan(5_000)
    },
  )
})

test.each<[text: string, says: string]>([
  ['', 'No prompt given'],
  ['   \n', 'No prompt given'],
  ['""', 'No prompt given'],
  ['--max-iterations 3', 'No prompt given'],
  ['x --max-iteration 3', 'Unknown option: --max-iteration. Did you mean --max-iterations?'],
  ['x --max_iterations 3', 'Did you mean --max-iterations?'],
  ['x --maxiterations=3', 'Did you mean --max-iterations?'],
  ['--completion-promis DONE x', 'Did you mean --completion-promise?'],
  ['x --verfy "npm test"', 'Did you mean --verify?'],
  ['x --max-iterations', '--max-iterations needs a value'],
  ['x --completion-promise --max-iterations 3', '--completion-promise needs a value'],
  ['--completion-promise --max-iterations 3 x', '--completion-promise needs a value'],
  ['x --max-iterations ten', 'must be a whole number, got "ten"'],
  ['x --max-iterations -1', 'must be a whole number, got "-1"'],
  ['x --max-iterations 1e3', 'must be a whole number, got "1e3"'],
  ['x --max-iterations 3.5', 'must be a whole number, got "3.5"'],
  ['x --max-iterations=', 'must be a whole number, got ""'],
  ['x --max-iterations 99999999999', 'must be a whole number'],
  ['x --timeout 0', 'must be a number of minutes above 0'],
  ['x --timeout soon', 'must be a number of minutes above 0'],
  ['x --completion-promise ""', '--completion-promise must not be empty'],
  ['x --completion-promise=" "', '--completion-promise must not be empty'],
  ['x --context new', '--context must be same, fresh or process'],
  ['x --subagent worker', '--subagent needs --context process'],
  ['x --context process --subagent ../evil', '--subagent must be an agent name'],
  ['x --verify "a | b"', 'which needs a shell'],
  ['x --verify ""', 'The command is empty'],
  ['x --require best', '--require must be verified, tested or kept, got "best"'],
  ['x --require altered', '--require must be verified, tested or kept'],
  ['x --proof none', '--proof must be off, seal or full, got "none"'],
  ['x --protect ""', '--protect must not be empty. Give a glob.'],
  ['x --may-chang a', 'Did you mean --may-change?'],
  ['x --file task.md', 'either a prompt or --file'],
])('%j is refused', (text, says) => {
  expect(() => parseLoopCommand(text)).toThrow(says)
})

test('without a prompt, the error names the command as typed', () => {
  expect(() => parseLoopCommand('', '/ralph-loop')).toThrow('Say what to do: /ralph-loop Make the tests pass')
})
