import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAsk, readClaim, withoutEcho } from '../engine/claim.ts'
import type { Loop, Next, Spec } from '../engine/loop.ts'
import { openStages } from '../engine/stages.ts'
import { checks, claims, type Happening, loopAfter, say, specOf, works } from '../engine/stories.test-support.ts'
import { buildReminder, buildTurnPrompt, inChain, lastingWords } from './turn-prompt.ts'

/** The prompt for the turn a story ends at. */
function promptAfter(spec: Spec, ...story: Happening[]): string {
  const loop = loopAfter(spec, ...story)
  return buildTurnPrompt(loop, turnOf(loop.next))
}

function turnOf(next: Next): Extract<Next, { kind: 'turn' }> {
  if (next.kind !== 'turn') throw new Error(`The loop asks for ${next.kind}.`)
  return next
}

describe('the prompt of a turn', () => {
  test.each([
    '---',
    'a\n---\nb\n---',
    '🦉 grün \u2028 \u0000 \r\n\ttab',
    '$(touch x) `touch x` $HOME %s \\n',
    `"quotes" 'single'`,
    '<promise>',
    'x'.repeat(1 << 20),
  ])('starts with the task, byte for byte', (prompt) => {
    expect(promptAfter(specOf({ prompt })).slice(0, prompt.length + 5)).toBe(`${prompt}\n\n---`)
  })

  test('says where the loop is', () => {
    expect(promptAfter(specOf(), works, works)).toContain('This is iteration 3 of at most 10 ')
    expect(promptAfter(specOf({}, { iterations: 0 }))).toContain('This is iteration 1 in a loop')
  })

  test('says how the work is claimed, and how it is proven', () => {
    const prompt = promptAfter(specOf({ promise: 'ALL DONE', checks: ['npm test', './lint.sh'] }))
    expect(prompt).toContain('`<promise>ALL DONE</promise>`')
    expect(prompt).toContain('`npm test` and `./lint.sh`')
  })

  test('says nothing about a claim or a proof if there is none', () => {
    const prompt = promptAfter(specOf({ promise: '' }))
    expect(prompt).not.toContain('promise')
    expect(prompt).not.toContain('ralph runs')
  })

  test('names the current stage and the later ones', () => {
    const stages = [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }, { name: 'LAST' }]
    const first = promptAfter(specOf({ stages }))
    expect(first).toMatch(/current stage is TESTS: .*`<promise>TESTS<\/promise>`.* Later stages: DOCS, LAST\./)
    const second = promptAfter(specOf({ stages }), claims('clear', 'TESTS'), checks('pass'))
    expect(second).toMatch(/current stage is DOCS: .* Later stages: LAST\./)
    expect(second).toContain('Stage TESTS has passed.')
  })

  test('ends with the outcome of the last iteration', () => {
    const spec = specOf({ checks: ['npm test'] })
    expect(promptAfter(spec)).not.toContain('Outcome of')
    const prompt = promptAfter(spec, claims('clear'), checks('fail', 2, 'expected 3, found 4'), say('use a loop'))
    const [, lessons = ''] = prompt.split('Outcome of the last iteration:')
    expect(lessons).toContain('You said you were done')
    expect(lessons).toContain('expected 3, found 4')
    expect(lessons).toContain('A person says: use a loop')
  })

  test('is the same for every attempt at an iteration', () => {
    const loop = loopAfter(specOf(), works)
    const next = turnOf(loop.next)
    expect(buildTurnPrompt(loop, { ...next, attempt: 7 })).toBe(buildTurnPrompt(loop, next))
  })

  test('ends with a line break', () => {
    expect(promptAfter(specOf())).toMatch(/[^\n]\n$/)
  })
})

describe('the prompt for an agent that already has the task', () => {
  const long = specOf({ prompt: 'Build it. '.repeat(2_000), checks: ['npm test'], promise: 'ALL DONE' })
  const reminderAfter = (spec: Spec, ...story: Happening[]) => {
    const loop = loopAfter(spec, ...story)
    return buildReminder(loop, turnOf(loop.next), '/p/loop.md')
  }

  test('is one line: where the loop is, where the task is, and how to claim it', () => {
    expect(reminderAfter(long, works, works)).toBe(
      'This is iteration 3 of at most 10 in the loop; the task and its rules have not changed. The task is in /p/loop.md. When the whole task is done, and not before, put `<promise>ALL DONE</promise>` alone on the last line, after an empty line.\n',
    )
  })

  test('gives the same outcome of the last iteration', () => {
    const story = [claims('clear'), checks('fail', 2, 'expected 3, found 4')]
    const [, whole] = promptAfter(long, ...story).split('Outcome of the last iteration:')
    const [, short] = reminderAfter(long, ...story).split('Outcome of the last iteration:')
    expect(short).toContain('expected 3, found 4')
    expect(short).toBe(whole)
  })

  test('names the current stage', () => {
    const stages = [{ name: 'TESTS', check: 'npm test' }, { name: 'DOCS' }]
    expect(reminderAfter(specOf({ stages }), works)).toContain('put `<promise>TESTS</promise>` alone')
  })
})

test('the lasting part is the same in every turn, until the task, its limit, its checks or how it is claimed change', () => {
  const spec = specOf({ checks: ['npm test'], stages: [{ name: 'TESTS' }, { name: 'DOCS' }] })
  const lasting = (given: Spec, ...story: Happening[]) => lastingWords(loopAfter(given, ...story))
  const before = lasting(spec)
  expect(lasting(spec, works, claims('weak'), checks('fail', 2, 'no'), say('use tabs'))).toBe(before)
  const others = [
    lasting({ ...spec, prompt: 'Another.' }),
    lasting({ ...spec, limits: { ...spec.limits, iterations: 11 } }),
    lasting({ ...spec, checks: ['npm run lint'] }),
    lasting(spec, claims('clear', 'TESTS'), checks('pass')),
    lasting({ ...spec, stages: [], promise: 'X' }),
  ]
  expect(new Set([before, ...others])).toHaveLength(6)
})

describe('an agent that repeats its prompt', () => {
  const word = fc.constantFrom(
    'Make',
    'it',
    'work',
    'all tests',
    'done',
    'COMPLETE',
    '🦉',
    '---',
    '```',
    '>',
    '',
    '- a',
    '\n',
  )
  const text = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '))
  const promise = fc.constantFrom('COMPLETE', 'ALL DONE', 'X', 'a.b*c')
  const tail = fc.oneof(
    text,
    promise.map((name) => `before\n<promise>${name}</promise>\nafter`),
    promise.map((name) => `<promise>${name}</promise>`),
    fc.constantFrom('TASK_COMPLETE', 'it says\nTASK_COMPLETE', '<ask>May I?</ask>', 'a\n<ask>May I?</ask>\nb', '```'),
  )
  const loops = fc
    .record({
      prompt: text,
      promise,
      checks: fc.constantFrom<string[]>([], ['npm test'], ['npm test', './lint.sh']),
      stages: fc.constantFrom<Spec['stages']>([], [{ name: 'TESTS', check: 'npm test' }, { name: 'COMPLETE' }]),
      signals: fc.constantFrom<string[]>([], ['TASK_COMPLETE']),
      story: fc.array(
        fc.oneof(
          fc.constantFrom<Happening>(works, claims('weak')),
          tail.map((said) => checks('fail', 2, said)),
          tail.map(say),
        ),
        { maxLength: 4 },
      ),
    })
    .map(({ story, ...spec }) => loopAfter(specOf(spec), ...story))
    .filter((loop) => loop.next.kind === 'turn')

  function claimableOf({ spec, tally }: Loop) {
    return { promise: spec.promise, signals: spec.signals, stages: openStages(spec, tally).map(({ name }) => name) }
  }

  test('claims nothing and asks nothing, with or without words of its own', () => {
    fc.assert(
      fc.property(loops, fc.constantFrom('', '\nI looked around.', '\n\nStill working on it.'), (loop, more) => {
        const prompt = buildTurnPrompt(loop, turnOf(loop.next))
        const left = withoutEcho(`${prompt}${more}`, prompt)
        expect(readClaim(left, claimableOf(loop))).toEqual({ kind: 'none' })
        expect(readAsk(left)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  test('claims nothing with a reminder either', () => {
    fc.assert(
      fc.property(loops, (loop) => {
        const prompt = buildReminder(loop, turnOf(loop.next), '/p/loop.md')
        expect(readClaim(withoutEcho(prompt, prompt), claimableOf(loop))).toEqual({ kind: 'none' })
        expect(readClaim(prompt, claimableOf(loop)).kind).not.toBe('clear')
        expect(readAsk(prompt)?.kind).not.toBe('person')
      }),
      { numRuns: 200 },
    )
  })

  test('claims nothing clearly, even if nobody removes the prompt', () => {
    fc.assert(
      fc.property(loops, (loop) => {
        const prompt = buildTurnPrompt(loop, turnOf(loop.next))
        expect(readClaim(prompt, claimableOf(loop)).kind).not.toBe('clear')
        expect(readAsk(prompt)?.kind).not.toBe('person')
      }),
      { numRuns: 500 },
    )
  })

  test('still claims in an answer of its own', () => {
    fc.assert(
      fc.property(loops, (loop) => {
        const prompt = buildTurnPrompt(loop, turnOf(loop.next))
        const { promise: whole, stages } = claimableOf(loop)
        const answer = `${prompt}\nI did it.\n<promise>${stages[0] ?? whole}</promise>\n`
        expect(readClaim(withoutEcho(answer, prompt), claimableOf(loop)).kind).toBe('clear')
      }),
      { numRuns: 200 },
    )
  })
})

test('an agent in a chain reads what the agent before it said', () => {
  expect(inChain('Look at this: {previous}. Then improve {previous}', 'a $& b')).toBe(
    'Look at this: a $& b. Then improve a $& b',
  )
  expect(inChain('Improve it.\n', 'One.\nTwo.')).toBe('Improve it.\n\nThe agent before you said:\n\n> One.\n> Two.')
  expect(inChain('Begin.', '')).toBe('Begin.')
  expect(inChain('Begin{previous}.', '')).toBe('Begin.')
})
