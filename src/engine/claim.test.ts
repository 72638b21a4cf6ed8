import { describe, expect, test } from 'vitest'
import { type Claimable, claimTag, isAccepted, readAsk, readClaim, withoutEcho } from './claim.ts'
import { claims, claimsIdly, idles, loopAfter, unchecked, works } from './stories.test-support.ts'

const TAG = claimTag('COMPLETE')
const claimable: Claimable = { promise: 'COMPLETE', signals: ['TASK_COMPLETE'], stages: [] }

function kindOf(text: string, change: Partial<Claimable> = {}): string {
  return readClaim(text, { ...claimable, ...change }).kind
}

describe('a clear claim', () => {
  test.each([
    ['the tag alone', TAG],
    ['the tag alone on the last line', `I fixed the parser.\n${TAG}`],
    ['the tag alone on the first line', `${TAG}\nI fixed the parser.`],
    ['the tag alone in the middle', `I fixed the parser.\n\n${TAG}\n\nThe tests are green.`],
    ['the tag at the end of the last line', `I fixed the parser. ${TAG}`],
    ['the tag at the end of a last line that runs on into it', `Everything is in place: ${TAG}`],
    ['the tag and a full stop', `I fixed the parser. ${TAG}.`],
    ['the tag and white space', `\n\n   ${TAG}  \n\n\t\n`],
    ['the tag in bold', `I fixed the parser.\n**${TAG}**`],
    ['the tag in bold at the end of the last line', `I fixed the parser. **${TAG}**`],
    ['the tag in italics', `_${TAG}_\nThe tests are green.`],
    ['the tag as a list item', `- ${TAG}\n- The tests are green.`],
    ['the tag as a heading', `## ${TAG}\nThe tests are green.`],
    ['the tag with a tick', `✅ ${TAG}\nThe tests are green.`],
    ['the tag with a tick drawn as a picture', `✔️ ${TAG}\nThe tests are green.`],
    ['the tag with joy', `${TAG} 🎉!\nThe tests are green.`],
    ['the tag over several lines', 'I fixed the parser.\n<promise>\n  COMPLETE\n</promise>'],
    ['the tag with white space inside', '<promise>  COMPLETE\t</promise>'],
    ['the tag twice', `${TAG}\n${TAG}`],
    ['the tag after another one', `${claimTag('OTHER')}\n${TAG}`],
    ['the tag after one that was never closed', `<promise>\n${TAG}`],
    ['the tag after prose about it', `You asked me to print ${TAG} at the end.\n\nIt is the end.\n${TAG}`],
    ['the tag after a refusal of earlier', `Before, I could not print ${TAG}.\n\nNow all is green.\n\n${TAG}`],
    ['the tag after a closed code block', `\`\`\`sh\nnpm test\n\`\`\`\n${TAG}`],
    ['the tag after code within a line', `\`\`\`npm test\`\`\` is green.\n${TAG}`],
    ['the tag after a code block in a list', `1. \`\`\`sh\n   npm test\n   \`\`\`\n${TAG}`],
    ['the tag after a quote', `> print ${TAG}\n\n${TAG}`],
    ['the tag after a colon', `I am done:\n${TAG}`],
    ['the tag after a question that was answered', `Is it done? Yes, it is.\n${TAG}`],
    ['the tag between lines ended in the Windows way', `I fixed it.\r\n${TAG}\r\nThe tests are green.\r\n`],
    ['the tag after a code block ended in the Windows way', `\`\`\`\r\nnpm test\r\n\`\`\`\r\n${TAG}\r\n`],
    ['the tag after a sentence that was no claim', `It was not easy. Now it works. ${TAG}`],
    ['the tag indented like code', `    ${TAG}`],
    ['a signal alone', 'I fixed the parser.\nTASK_COMPLETE'],
    ['a signal at the end of the last line', 'I fixed the parser. TASK_COMPLETE'],
    ['a signal in bold', '**TASK_COMPLETE**\nThe tests are green.'],
    ['a signal and a full stop', 'TASK_COMPLETE.'],
  ])('is %s', (_, text) => {
    expect(kindOf(text)).toBe('clear')
  })
})

describe('a weak claim', () => {
  test.each([
    ['the tag in mid-sentence', `I print ${TAG} now, as you asked.`],
    ['the tag in mid-sentence on an earlier line', `So here is ${TAG} for you.\nThe tests are green.`],
    ['the tag that ends an earlier line', `All is well: ${TAG}\nThe tests are green.`],
    ['the tag after one letter', `A ${TAG}\nThe tests are green.`],
    ['the tag in mid-sentence before another one', `So ${TAG} it is. It was not easy.`],
    ['the tag at the end of a sentence before another one', `So I say ${TAG}. It was not easy.`],
    ['the tag in quotes', `"${TAG}"`],
    ['the tag in curly quotes', `“${TAG}”`],
    ['the tag in backticks', `\`${TAG}\``],
    ['the tag in backticks at the end', `I fixed the parser. \`${TAG}\``],
    ['the tag in three backticks', `\`\`\`${TAG}\`\`\``],
    ['the tag in brackets', `(${TAG})`],
    ['a signal in mid-sentence', 'I say TASK_COMPLETE and mean it.'],
    ['a signal in quotes', '"TASK_COMPLETE"'],
    ['the phrase: all tests passing', 'I fixed the parser. All tests passing.'],
    ['the phrase: all tests pass', 'All tests pass'],
    ['the phrase: all the tests are now passing', 'All the tests are now passing!'],
    ['the phrase: ready for review', 'Ready for review'],
    ['the phrase: everything is ready for review', 'I fixed it. Everything is ready for review.'],
    ['the phrase: no changes needed', 'I looked at it. No changes needed.'],
    ['the phrase: no further changes are needed', 'No further changes are needed.'],
    ['the phrase: all tasks complete', 'All tasks complete'],
    ['the phrase: all tasks in the list are now complete', 'All tasks in tasks.json are now complete.'],
    ['the phrase: all tasks completed', 'All tasks have been completed.'],
    ['a phrase in capitals', 'ALL TESTS PASSING'],
    ['a phrase in bold', '**All tests passing**'],
    ['a phrase as a list item', '- ✅ All tests passing\n- I fixed the parser'],
    ['a phrase as a heading', '## Ready for review\n\nI fixed the parser.'],
    ['a phrase on a Windows line', 'I fixed it.\r\nAll tests passing.\r\nMore tomorrow.\r\n'],
  ])('is %s', (_, text) => {
    expect(kindOf(text)).toBe('weak')
  })
})

describe('no claim', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' \n\t\r\n'],
    ['the bare word done', 'Done.'],
    ['the bare word complete', 'COMPLETE'],
    ['the bare word finished', 'I am finished.'],
    ['bare words in a sentence', 'The setup is done, the first part complete. I will continue tomorrow.'],
    ['another tag', claimTag('OTHER')],
    ['the tag in small letters', claimTag('complete')],
    ['the tag with more in it', claimTag('COMPLETE soon')],
    ['the tag around nothing', '<promise></promise>'],
    ['a tag that is not closed', '<promise>COMPLETE'],
    ['a tag in capitals', '<PROMISE>COMPLETE</PROMISE>'],
    ['the tag in a code block', `\`\`\`\n${TAG}\n\`\`\``],
    ['the tag in a code block with a language', `Print this:\n\`\`\`xml\n${TAG}\n\`\`\`\nNot now.`],
    ['the tag in a code block of tildes', `~~~\n${TAG}\n~~~`],
    ['the tag in a code block of tildes, the Windows way', `~~~\r\n${TAG}\r\n~~~\r\n`],
    ['the tag in a longer fence with a shorter one in it', `\`\`\`\`\n\`\`\`\n${TAG}\n\`\`\`\`\n`],
    ['the tag in a code block that is never closed', `\`\`\`\n${TAG}`],
    ['the tag after a code block that is never closed', `\`\`\`sh\nnpm test\n\n${TAG}`],
    ['the tag in an indented code block', `1. First\n   \`\`\`\n   ${TAG}\n   \`\`\``],
    ['the tag in a quote', `> ${TAG}`],
    ['the tag in a quote of a quote', `>> ${TAG}`],
    ['a signal in a code block', '```\nTASK_COMPLETE\n```'],
    ['a signal that is part of a word', 'MY_TASK_COMPLETE'],
    ['a signal that goes on', 'TASK_COMPLETED'],
    ['a signal within letters of another tongue', 'éTASK_COMPLETEé'],
    ['a signal in small letters', 'task_complete'],
    ['a phrase that is part of a sentence', 'I will stop with all tests passing.'],
    ['a phrase that goes on', 'All tests passing on my machine so far'],
    ['a phrase with a condition', 'Ready for review once CI is green.'],
    ['a phrase as a question', 'All tests passing?'],
    ['a phrase denied', 'All tasks are not complete.'],
    ['a phrase planned', 'All tasks will be complete.'],
    ['a phrase demanded', 'All tasks must be complete.'],
    ['a phrase with an exception', 'All tasks but one are complete.'],
    ['a phrase with another exception', 'All tasks except T3 are complete.'],
    ['a phrase that is almost true', 'All tasks are almost complete.'],
    ['a phrase in a code block', '```\nAll tests passing\n```'],
  ])('is %s', (_, text) => {
    expect(kindOf(text)).toBe('none')
  })

  test.each([
    // negations
    `Nothing is done yet. ${TAG}`,
    `The parser is not finished.\n${TAG}`,
    `I cannot finish. Should I output this?\n${TAG}`,
    `The instructions say to print:\n${TAG}\nbut the tests still fail, so I go on.`,
    `I will not output ${TAG} yet`,
    `I will not output \`${TAG}\` yet.`,
    `I won't print ${TAG} before the tests are green.`,
    `I won’t print ${TAG} before the tests are green.`,
    `I cannot say ${TAG}`,
    `I can't say ${TAG}`,
    `Not ${TAG}`,
    `No ${TAG}`,
    `I never said ${TAG}`,
    `It ends without ${TAG}`,
    `It is too early for ${TAG}, I have not run the tests`,
    `${TAG} is not true yet.`,
    // conditions
    `When all is done I will print ${TAG}`,
    `If the tests pass: ${TAG}`,
    `Once the tests are green, ${TAG}`,
    `As soon as it works: ${TAG}`,
    `${TAG} comes when the tests are green.`,
    `Until then, no ${TAG}`,
    `Unless you object, ${TAG}`,
    // plans
    `I am going to print ${TAG}`,
    `I'll print ${TAG}`,
    `I’ll print ${TAG}`,
    `My plan is to print ${TAG}`,
    `I want to print ${TAG}`,
    `I need to print ${TAG}`,
    `I should print ${TAG}`,
    `I would print ${TAG}`,
    `Let me print ${TAG}`,
    `I am about to print ${TAG}`,
    // questions
    `Shall I print ${TAG}?`,
    `Is it time for ${TAG}?`,
    `Do you want ${TAG} now?`,
    // on a line of its own, where the sentence runs on
    `When all is done I will print:\n${TAG}`,
    `When all is done I will print:\n\n${TAG}`,
    `**When all is done I will print:**\n${TAG}`,
    `If the tests pass,\n${TAG}`,
    `This is what I will say –\n${TAG}\nwhen the tests are green.`,
    `When all is done I will output\n${TAG}\nand stop.`,
    `I will not print\n${TAG}\nyet.`,
    `I said that I would answer with\n${TAG}`,
    `${TAG}\nonce the tests are green.`,
    // signals
    'I will say TASK_COMPLETE when it is done.',
    'I cannot say TASK_COMPLETE',
    'When done I print:\nTASK_COMPLETE',
  ])('is made by speaking about one: %s', (text) => {
    expect(kindOf(text)).toBe('none')
    expect(kindOf(text.replaceAll('\n', '\r\n'))).toBe('none')
  })
})

describe('of several claims', () => {
  const staged = { stages: ['TESTS_PASS', 'DOCS'] }

  test.each<[story: string, text: string, stage: string | undefined]>([
    ['the promise of the loop has no stage', TAG, undefined],
    ['a stage is named', claimTag('DOCS'), 'DOCS'],
    ['the first stage counts', `${claimTag('TESTS_PASS')}\n${claimTag('DOCS')}`, 'TESTS_PASS'],
    [
      'the first stage counts, whatever the order of the list',
      `${claimTag('DOCS')}\n${claimTag('TESTS_PASS')}`,
      'DOCS',
    ],
    ['an open stage counts before the promise', `${TAG}\n${claimTag('TESTS_PASS')}`, 'TESTS_PASS'],
    ['an open stage counts before a signal', `TASK_COMPLETE\n${claimTag('DOCS')}`, 'DOCS'],
    ['a stage that is not open does not count', `${claimTag('LINT')}\n${claimTag('DOCS')}`, 'DOCS'],
    ['a clear one counts before a weak one', `I say ${claimTag('TESTS_PASS')} here.\n\n${claimTag('DOCS')}`, 'DOCS'],
    ['white space does not count', '<promise>\n TESTS_PASS </promise>', 'TESTS_PASS'],
  ])('%s', (_, text, stage) => {
    const claim = readClaim(text, { ...claimable, ...staged })
    expect(claim).toEqual(stage === undefined ? { kind: 'clear' } : { kind: 'clear', stage })
  })

  test('a weak one names its stage as well', () => {
    expect(readClaim(`So ${claimTag('DOCS')} it is.`, { ...claimable, ...staged })).toEqual({
      kind: 'weak',
      stage: 'DOCS',
    })
  })

  test('a stage that bears the name of the promise is that stage', () => {
    expect(readClaim(TAG, { ...claimable, stages: ['COMPLETE'] })).toEqual({ kind: 'clear', stage: 'COMPLETE' })
  })

  test('a refusal of one does not undo another', () => {
    const text = `I will not say ${claimTag('DOCS')} yet.\n\n${claimTag('TESTS_PASS')}`
    expect(readClaim(text, { ...claimable, ...staged })).toEqual({ kind: 'clear', stage: 'TESTS_PASS' })
  })
})

describe('a promise', () => {
  test.each([
    'All tests pass',
    'C++ (really) [done]? $5.00 ^|\\{}*.',
    '.*',
    '$&',
    '\\d+',
    'say "done" and \'done\' and `done`',
    '完成了 ✅ 🎉',
    'a < b && c > d',
    '</b>',
    'ends with a backslash \\',
    '-',
    '__proto__',
  ])('may be %j', (promise) => {
    expect(kindOf(`I fixed it.\n${claimTag(promise)}`, { promise })).toBe('clear')
    expect(kindOf(`I will not say ${claimTag(promise)} yet.`, { promise })).toBe('none')
    expect(kindOf(TAG, { promise })).toBe('none')
    expect(kindOf(`I fixed it.\n~ ${promise} ~`, { promise: '', signals: [`~ ${promise} ~`] })).toBe('clear')
  })

  test('is compared with white space folded on both sides', () => {
    const promise = '  all\n of   it\tworks '
    expect(kindOf('<promise>all of it works</promise>', { promise })).toBe('clear')
    expect(kindOf('<promise>\nall of\r\nit  works\n</promise>', { promise })).toBe('clear')
    expect(kindOf('<promise>all ofit works</promise>', { promise })).toBe('none')
    expect(kindOf('ALL   DONE', { signals: ['ALL DONE'] })).toBe('clear')
    expect(kindOf('ALL DONE', { signals: [' ALL\n DONE '] })).toBe('clear')
  })

  test('that is empty claims nothing', () => {
    for (const promise of ['', ' ', '\n']) {
      expect(kindOf('<promise></promise>', { promise })).toBe('none')
      expect(kindOf('<promise> </promise>', { promise })).toBe('none')
      expect(kindOf(TAG, { promise })).toBe('none')
      expect(kindOf('I fixed it.', { promise, signals: [promise], stages: [promise] })).toBe('none')
    }
  })

  test('takes no pattern of another', () => {
    expect(kindOf(claimTag('aaa'), { promise: 'a+' })).toBe('none')
    expect(kindOf(claimTag('abc'), { promise: 'a.c' })).toBe('none')
    expect(kindOf('TASK-COMPLETE', { signals: ['TASK.COMPLETE'] })).toBe('none')
  })
})

describe('a claim without checks is accepted', () => {
  test.each([
    ['clear', loopAfter(unchecked, works, works), 'clear', 0, true],
    ['weak, once', loopAfter(unchecked, works), 'weak', 1, false],
    ['weak, twice', loopAfter(unchecked, works), 'weak', 2, true],
    ['weak, once, the tree at rest', loopAfter(unchecked, works, idles, idles), 'weak', 1, true],
    ['weak, once, the tree never touched', loopAfter(unchecked, idles, idles), 'weak', 1, false],
    ['none, the tree at rest', loopAfter(unchecked, works, idles, idles), 'none', 0, false],
  ] as const)('%s', (_, { tally }, kind, weak, accepted) => {
    expect(isAccepted({ ...tally, claim: { kind }, weak })).toBe(accepted)
  })

  test('where it is clear and something has changed', () => {
    expect(isAccepted(loopAfter(unchecked, claims('clear')).tally)).toBe(true)
    expect(isAccepted(loopAfter(unchecked, claimsIdly('clear')).tally)).toBe(false)
  })
})

describe('an agent asks', () => {
  test.each<[story: string, text: string, question: string]>([
    ['a question at the end', 'I see two ways. Which one do you prefer?', 'Which one do you prefer?'],
    ['a question on the last line', 'I see two ways.\n\nWhich one?\n', 'Which one?'],
    ['a question in bold', 'I see two ways.\n**Which one?**', '**Which one?**'],
    ['a question in quotes', 'I ask: "Which one?"', 'I ask: "Which one?"'],
    ['a question on a Windows line', 'I see two ways.\r\nWhich one?\r\n', 'Which one?'],
    ['a polite request', 'Please confirm the plan.', 'Please confirm the plan.'],
    ['to be told', 'I stopped here. Let me know how to go on.', 'Let me know how to go on.'],
    ['by waiting', 'I am waiting for your answer.', 'I am waiting for your answer.'],
    ['by waiting for instructions', 'Awaiting further instructions.', 'Awaiting further instructions.'],
  ])('%s', (_, text, words) => {
    expect(readAsk(text)).toEqual({ kind: 'question', words })
  })

  test.each<[story: string, text: string, question: string]>([
    ['with the tag', '<ask>May I delete the data?</ask>', 'May I delete the data?'],
    ['with the tag and no question mark', 'I stop.\n<ask>Give me a key</ask>', 'Give me a key'],
    ['with the tag before other words', '<ask>May I?</ask>\nI did the rest.', 'May I?'],
    ['with the tag over several lines', '<ask>\nMay I\n  delete it?\n</ask>', 'May I delete it?'],
    ['with the tag, indented', '  <ask>May I?</ask>  ', 'May I?'],
    ['with the tag on a Windows line', 'I stop.\r\n<ask>May I?</ask>\r\n', 'May I?'],
    ['with other tags inside', '<ask>Is it a List<int> or a <b>set</b>?</ask>', 'Is it a List<int> or a <b>set</b>?'],
  ])('for a person: %s', (_, text, words) => {
    expect(readAsk(text)).toEqual({ kind: 'person', words })
  })

  test.each([
    ['nothing', ''],
    ['a report', 'I fixed the parser.'],
    ['a question that is answered', 'Why did it fail? Because of a typo.'],
    ['a question in a code block', 'I wrote:\n```\nWhich one?\n```'],
    ['a question in a quote', 'I did as you said.\n> Which one?'],
    ['the tag in prose', 'I could write <ask>May I?</ask> here, and do not.'],
    ['the tag in a code block', 'See:\n```\n<ask>May I?</ask>\n```\nDone.'],
    ['the tag in a quote', '> <ask>May I?</ask>\nI went on.'],
    ['the tag around nothing', '<ask> </ask>'],
    ['a tag that is not closed', '<ask>May I\nI went on.'],
  ])('nothing with %s', (_, text) => {
    expect(readAsk(text)).toBeUndefined()
  })

  test('in words that are cut short', () => {
    expect(readAsk(`${'why '.repeat(1_000)}?`)?.words.length).toBe(500)
    expect(readAsk(`<ask>${'why '.repeat(1_000)}?</ask>`)?.words.length).toBe(2_000)
  })
})

describe('the echo of a prompt', () => {
  const prompt = `Make it faster.\n\nRules:\n- keep the tests green\n- at the end print\n${TAG}\n`

  test.each([
    ['the whole prompt', prompt, ''],
    ['the whole prompt before the answer', `${prompt}\nI fixed it.`, 'I fixed it.'],
    ['the whole prompt between other lines', `user\n${prompt}codex\nI fixed it.`, 'user codex I fixed it.'],
    ['the prompt twice', `${prompt}${prompt}I fixed it.`, 'I fixed it.'],
    ['the prompt, indented', prompt.replaceAll(/^/gm, '   '), ''],
    ['the prompt with Windows lines', prompt.replaceAll('\n', '\r\n'), ''],
    ['the prompt without its blank lines', prompt.replaceAll('\n\n', '\n'), ''],
    ['its last three lines', `- keep the tests green\n- at the end print\n${TAG}`, ''],
    [
      'two lines of it',
      '- keep the tests green\n- at the end print\nok',
      '- keep the tests green - at the end print ok',
    ],
    ['one line of it, which is the claim', `I fixed it.\n${TAG}`, `I fixed it. ${TAG}`],
    ['the prompt and the claim', `${prompt}\nI fixed it.\n${TAG}`, `I fixed it. ${TAG}`],
    ['the prompt and at once the claim', `${prompt}${TAG}`, TAG],
    ['nothing of it', 'I fixed it.', 'I fixed it.'],
    ['nothing', '', ''],
  ])('is left out: %s', (_, words, left) => {
    expect(withoutEcho(words, prompt).split(/\s+/).filter(Boolean).join(' ')).toBe(left)
  })

  test('of a short prompt is all of it', () => {
    expect(withoutEcho(`Fix it.\nI did.\n`, 'Fix it.')).toBe('I did.\n')
    expect(withoutEcho('Fix it.\nThen stop.\nI did.', 'Fix it.\nThen stop.')).toBe('I did.')
    expect(withoutEcho('Fix it.\nI did.', 'Fix it.\nThen stop.')).toBe('Fix it.\nI did.')
  })

  test('of no prompt is nothing', () => {
    expect(withoutEcho('a\n\nb', '')).toBe('a\n\nb')
    expect(withoutEcho('a\n\nb', ' \n ')).toBe('a\n\nb')
  })

  test('claims nothing', () => {
    const words = `user\n${prompt}\ncodex\nI read the files.`
    expect(kindOf(words)).not.toBe('none')
    expect(kindOf(withoutEcho(words, prompt))).toBe('none')
  })
})

describe('a text of a million characters is read in a moment', () => {
  const fill = (part: string) => part.repeat(Math.ceil(1_000_000 / part.length))

  test.each<[what: string, text: string, kind: string]>([
    ['letters', fill('x'), 'none'],
    ['spaces', fill(' '), 'none'],
    ['spaces before the tag', fill(' ') + TAG, 'clear'],
    ['spaces within the tag', `<promise>${fill(' ')}COMPLETE</promise>`, 'clear'],
    ['lines', fill('\n'), 'none'],
    ['lines before the tag', `${fill('All is well.\n')}${TAG}`, 'clear'],
    ['sentences before the tag', `${fill('a. ')}and so ${TAG} it is`, 'weak'],
    ['dashes', `${fill('-')}a${fill('-')}b`, 'none'],
    ['marks of decoration', `${fill('*')}\n${TAG}`, 'clear'],
    ['tags that are opened', fill('<promise>'), 'none'],
    ['tags that are opened and followed by spaces', fill('<promise>          '), 'none'],
    ['tags of another promise', fill(claimTag('OTHER')), 'none'],
    ['tags in refusals, one a line', fill(`I will not say ${TAG} yet.\n`), 'none'],
    ['tags in refusals, in one line', fill(`not ${TAG} `), 'none'],
    ['tags in mid-sentence', `${fill(`and ${TAG} `)}it is`, 'weak'],
    ['tags alone', fill(`${TAG}\n`), 'clear'],
    ['signals', fill('not TASK_COMPLETE '), 'none'],
    ['fences', fill('```\n'), 'none'],
    ['backticks', fill('`'), 'none'],
    ['backticks, closed', `${fill('`')} \``, 'none'],
    ['quotes', fill('> '), 'none'],
    ['question marks', fill('?'), 'none'],
    ['phrases, almost', fill('All tasks '), 'none'],
  ])('%s', (_, text, kind) => {
    const started = performance.now()
    expect(kindOf(text)).toBe(kind)
    readAsk(text)
    withoutEcho(text, `${TAG}\nAll is well.\nI will not say ${TAG} yet.\n`)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test.each<[what: string, text: string]>([
    ['requests that are never closed', fill('<ask>')],
    ['requests that are never closed, one a line', fill('<ask>\n')],
    ['polite beginnings', fill('please ')],
    ['waiting', fill('waiting for your ')],
  ])('%s', (_, text) => {
    const started = performance.now()
    expect(readAsk(text)).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('an echo of lines that are all the same', () => {
    const started = performance.now()
    const braces = '}\n'.repeat(1_000)
    expect(withoutEcho(braces, braces).trim()).toBe('')
    expect(withoutEcho('}\n}\nx\n'.repeat(2_000), braces)).toContain('x')
    expect(withoutEcho(fill('a\n'), 'a\n'.repeat(5)).trim()).toBe('')
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})
