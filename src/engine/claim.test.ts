import { describe, expect, test } from 'vitest'
import { type Claimable, claimTag, isAccepted, readAsk, readClaim, withoutEcho } from './claim.ts'
import { blind, claimOf, claims, claimsIdly, idles, loopAfter, unchecked, works } from './stories.test-support.ts'

const TAG = claimTag('COMPLETE')
const claimable: Claimable = { promise: 'COMPLETE', signals: ['TASK_COMPLETE'], stages: [] }

/** What a text claims, in one word: the form of a weak claim, else its kind. */
function kindOf(text: string, change: Partial<Claimable> = {}): string {
  const { kind, form } = readClaim(text, { ...claimable, ...change })
  return form ?? kind
}

/** Text with Windows or old Mac line endings means the same. */
function expectKind(text: string, kind: string): void {
  expect(kindOf(text)).toBe(kind)
  expect(kindOf(text.replaceAll('\n', '\r\n'))).toBe(kind)
  expect(kindOf(text.replaceAll('\n', '\r'))).toBe(kind)
  expect(kindOf(`${text}\n`)).toBe(kind)
}

/** The way a client that sends everything as XML spells out a tag. */
const escaped = (text: string) => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;')

test.each([
  ['alone', `I fixed it.\n\n${TAG}`, 'clear'],
  ['with words after it', `${TAG}\n\nThat is all.`, 'stated'],
  ['in a sentence', `I will print ${TAG} later.`, 'mentioned'],
  ['in a fence among other lines', `\`\`\`\n${TAG}\nmore\n\`\`\``, 'none'],
  ['next to a request for a person', `${TAG}\n\n<ask>May I?</ask>`, 'none'],
])('a tag that is spelled out counts as the tag itself: %s', (_, text, kind) => {
  expect(kindOf(text)).toBe(kind)
  expect(kindOf(escaped(text))).toBe(kind)
  expect(kindOf(text.replaceAll('</', '&lt;/'))).toBe(kind)
})

test('a spelled-out request for a person counts', () => {
  expect(readAsk(escaped('<ask>May I delete a < b?</ask>'))).toEqual({
    kind: 'person',
    words: 'May I delete a &lt; b?',
  })
})

describe('a clear claim', () => {
  test.each([
    ['the tag alone', TAG],
    ['the tag on the last line, after a sentence', `I fixed the parser.\n${TAG}`],
    ['the tag on the last line, after an empty line', `- the parser\n- the lexer\n\n${TAG}`],
    ['the tag after a sentence on the last line', `I fixed the parser. ${TAG}`],
    ['the tag after a cheerful sentence', `All done! ${TAG}`],
    ['the tag after a negation that no longer holds', `The test failed because the socket was not ready.\n\n${TAG}`],
    ['the tag after a problem that is fixed', `It did not finish in time before; that is fixed.\n${TAG}`],
    ['the tag after a question that was answered', `Is it done? Yes, it is.\n${TAG}`],
    ['the tag after a sentence in Chinese', `解析器已修复。\n${TAG}`],
    ['the tag after a sentence in Hindi', `काम पूरा हो गया।\n${TAG}`],
    ['the tag after a sentence in Arabic', `هل انتهى العمل؟ نعم.\n${TAG}`],
    ['the tag after a sentence in brackets', `(I fixed the parser.)\n${TAG}`],
    ['the tag after a sentence in bold', `**I fixed the parser.**\n${TAG}`],
    ['the tag after a sentence with an emoji', `I fixed the parser. 🎉\n${TAG}`],
    ['the tag after a list of sentences', `- I fixed the parser.\n- I fixed the lexer.\n${TAG}`],
    ['the tag and a full stop', `${TAG}.`],
    ['the tag and a full stop after a sentence', `I fixed the parser. ${TAG}.`],
    ['the tag and white space', `\n\n   ${TAG}  \n\n\t\n`],
    ['the tag in bold', `**${TAG}**`],
    ['the tag in bold after a sentence', `I fixed the parser. **${TAG}**`],
    ['the tag in italics', `_${TAG}_`],
    ['the tag in backticks', `\`${TAG}\``],
    ['the tag in three backticks', `\`\`\`${TAG}\`\`\``],
    ['the tag as a heading', `## ${TAG}`],
    ['the tag with a tick', `✅ ${TAG}`],
    ['the tag with a tick drawn as a picture', `✔️ ${TAG}`],
    ['the tag with a rocket', `${TAG} 🚀`],
    ['the tag with people, flags and joy', `👩🏽‍💻 ${TAG} 🇫🇷🎉!`],
    ['the tag over several lines', 'I fixed the parser.\n<promise>\n  COMPLETE\n</promise>'],
    ['the tag with white space inside', '<promise>  COMPLETE\t</promise>'],
    ['the tag twice', `${TAG}\n${TAG}`],
    ['the tag after another one', `${claimTag('OTHER')}\n${TAG}`],
    ['the tag after prose about it', `You asked me to print ${TAG} at the end.\n\nIt is the end.\n${TAG}`],
    ['the tag after a refusal of earlier', `Before, I could not print ${TAG}.\n\nNow all is green.\n\n${TAG}`],
    ['the tag after a closed code block', `The tests pass:\n\`\`\`sh\nnpm test\n\`\`\`\n${TAG}`],
    ['the tag an empty line after a closed code block', `The tests pass:\n\`\`\`sh\nnpm test\n\`\`\`\n\n${TAG}`],
    ['the tag after code within a line', `\`\`\`npm test\`\`\` is green.\n${TAG}`],
    ['the tag after a code block in a list', `1. \`\`\`sh\n   npm test\n   \`\`\`\n${TAG}`],
    ['the tag after a code block that shows it', `\`\`\`\n${TAG}\n\`\`\`\n${TAG}`],
    ['the tag after a table', `| test | result |\n|---|---|\n| parser | green |\n${TAG}`],
    ['the tag after a rule', `I fixed the parser.\n\n---\n${TAG}`],
    ['the tag after a quote', `You said:\n> print ${TAG}\n\n${TAG}`],
    ['the tag after a comment', `<!-- a note -->\n${TAG}\n<!-- another -->`],
    ['the tag after a comment that is only opened', `I removed the stray \`<!--\`.\n\n${TAG}`],
    ['the tag in colors', `I fixed it.\n\u001b[1;32m${TAG}\u001b[0m`],
    ['the tag in colors written with colons', `I fixed it.\n\u001b[38:5:1m${TAG}\u001b[m`],
    ['the tag next to a terminal title', `\u001b]0;npm test\u0007${TAG}\u001b]2;done\u001b\\`],
    ['the tag next to other escape sequences', `\u001b(B\u001b7${TAG}\u001b=\u0007`],
    ['the tag between right-to-left marks', `\u200f${TAG}\u200f`],
    ['the tag in a right-to-left isolate', `تم.\n\u2067${TAG}\u2069`],
    ['the tag between zero-width characters', `I fixed it.\u200b\n\u200b\ufeff${TAG}\u200b\u2060`],
    ['the tag below a line of zero-width characters', `- the parser\n\u200b\n${TAG}`],
    ['the tag indented', `    ${TAG}`],
    ['a signal alone', 'I fixed the parser.\nTASK_COMPLETE'],
    ['a signal after a sentence on the last line', 'I fixed the parser. TASK_COMPLETE'],
    ['a signal in bold', '**TASK_COMPLETE**'],
    ['a signal and a full stop', 'TASK_COMPLETE.'],
    ['a signal in a tag', claimTag('TASK_COMPLETE')],
  ])('is %s', (_, text) => {
    expectKind(text, 'clear')
  })
})

describe('a stated claim', () => {
  test.each([
    ['the tag alone on the first line', `${TAG}\nI fixed the parser.`],
    ['the tag alone in the middle', `I fixed the parser.\n\n${TAG}\n\nThe tests are green.`],
    ['the tag before words that take it back', `I fixed it.\n\n${TAG}\n\nWait, two tests still fail.`],
    ['the tag before a sentence that runs on', `${TAG}\nonce the tests are green.`],
    ['the tag before a code block', `${TAG}\n\`\`\`\n2 failed\n\`\`\``],
    ['the tag before a quote', `${TAG}\n> not yet`],
    ['the tag in bold', `**${TAG}**\nThe tests are green.`],
    ['the tag with a tick', `✅ ${TAG}\nThe tests are green.`],
    ['the tag in a code block of its own', `\`\`\`\n${TAG}\n\`\`\``],
    ['the tag in a code block after a sentence', `I fixed it.\n\`\`\`xml\n\n${TAG}\n\`\`\``],
    ['the tag in a code block of tildes', `~~~\n${TAG}\n~~~`],
    ['the tag announced above an empty line', `When all is done I will print:\n\n${TAG}`],
    ['the tag announced in bold above an empty line', `**The last line will be:**\n\n${TAG}`],
    ['a signal', '**TASK_COMPLETE**\nThe tests are green.'],
    ['a signal in a code block of its own', '```\nTASK_COMPLETE\n```'],
  ])('is %s', (_, text) => {
    expectKind(text, 'stated')
  })
})

describe('a tag that is only mentioned', () => {
  test.each([
    ['in German', `Zwei Tests schlagen noch fehl, also kein ${TAG}`],
    ['in Spanish', `Todavía fallan dos pruebas, así que no hay ${TAG}`],
    ['in French', `Deux tests échouent encore, donc pas de ${TAG}`],
    ['in Chinese', `还有两个测试失败，所以没有 ${TAG}`],
    ['in Russian', `Два теста ещё падают, поэтому нет ${TAG}`],
    ['in a refusal', `I am refusing to emit ${TAG}`],
    ['as too early', `It is too early for ${TAG}`],
    ['while waiting for approval', `Awaiting approval before ${TAG}`],
    ['in a promise not to say it', `I will not output ${TAG} yet`],
    ['in a promise not to say it, in backticks', `I will not output \`${TAG}\` yet.`],
    ['in a denial', `${TAG} is not true yet.`],
    ['in a plan', `When all is done I will print ${TAG}`],
    ['as a condition', `If the tests pass: ${TAG}`],
    ['in a question', `Shall I print ${TAG}?`],
    ['in a question with more after it', `Do you want ${TAG} now? I wait.`],
    ['in passing', `So ${TAG} it is. It was not easy.`],
    ['before other sentences of its line', `All done! ${TAG} The tests are green.`],
    ['after a sentence of its line, with words below', `All done! ${TAG}\nThe tests are green.`],
    ['after a colon', `Everything is in place: ${TAG}`],
    ['in a line of grep', `src/prompt.ts:12:${TAG}`],
    ['in a diff', `+${TAG}`],
    ['in a diff, after a sentence', `+I fixed it. ${TAG}`],
    ['as the number of a list', `1. Fix the parser.\n2. Run the tests.\n3. ${TAG}`],
    ['as a bold number of a list', `**3.** **${TAG}**`],
    ['as a number within a line', `1. Fix the parser. 2. ${TAG}`],
    ['below a number', `3.\n${TAG}`],
    ['as a bullet', `Remaining steps:\n- ${TAG}`],
    ['as a bullet among sentences', `Remaining steps:\n* Fix the parser.\n* ${TAG}`],
    ['as a bullet below an empty line', `Remaining steps:\n\n• ${TAG}`],
    ['as a done item', `- [x] ${TAG}`],
    ['below an open item', `- [ ] Fix the parser\n${TAG}`],
    ['in a table', `| say | ${TAG} |`],
    ['below an order', `when finished, put\n${TAG}`],
    ['below an announcement', `the following is false:\n${TAG}`],
    ['below an announcement in bold', `**When all is done I will print:**\n${TAG}`],
    ['below an honest announcement', `I am done:\n${TAG}`],
    ['below half a sentence', `If the tests pass,\n${TAG}`],
    ['below an ellipsis', `And now ...\n${TAG}`],
    ['below an example', `the last line, e.g.\n${TAG}`],
    ['between the lines of a sentence', `When all is done I will output\n${TAG}\nand stop.`],
    ['in a code block below an announcement', `The last line must be:\n\`\`\`\n${TAG}\n\`\`\``],
    ['below a comment that is never closed', `<!--\n${TAG}`],
    ['in quotes', `"${TAG}"`],
    ['in curly quotes', `“${TAG}”`],
    ['in brackets', `(${TAG})`],
    ['crossed out', `~~${TAG}~~`],
    ['as a signal in a sentence', 'I say TASK_COMPLETE and mean it.'],
    ['as a signal in quotes', '"TASK_COMPLETE"'],
    ['as a signal among values', 'I added the enum values TASK_PENDING and TASK_COMPLETE.'],
  ])('is mentioned %s', (_, text) => {
    expectKind(text, 'mentioned')
  })
})

describe('a phrase', () => {
  test.each([
    ['all tests passing', 'I fixed the parser. All tests passing.'],
    ['all tests passing, while work goes on', 'Step 1 of 4 is done; three to go. All tests passing.'],
    ['all tests pass', 'All tests pass'],
    ['all the tests are now passing', 'All the tests are now passing!'],
    ['ready for review', 'Ready for review'],
    ['everything is ready for review', 'I fixed it. Everything is ready for review.'],
    ['no changes needed', 'I looked at it. No changes needed.'],
    ['no further changes are needed', 'No further changes are needed.'],
    ['all tasks complete', 'All tasks complete'],
    ['all tasks in the list are now complete', 'All tasks in tasks.json are now complete.'],
    ['all tasks completed', 'All tasks have been completed.'],
    ['in capitals', 'ALL TESTS PASSING'],
    ['in bold', '**All tests passing**'],
    ['in a list', '- ✅ All tests passing\n- I fixed the parser'],
    ['as a heading', '## Ready for review\n\nI fixed the parser.'],
  ])('is a weak claim: %s', (_, text) => {
    expectKind(text, 'phrase')
  })
})

describe('no claim', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' \n\t\n'],
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
    ['a tag broken by a zero-width character', '<\u200bpromise>COMPLETE</promise>'],
    ['the tag in a terminal title', `\u001b]0;${TAG}\u0007I go on.`],
    ['the tag in a code block with more', `\`\`\`\nThe last line:\n${TAG}\n\`\`\``],
    ['the tag in a longer fence with a shorter one in it', `\`\`\`\`\n\`\`\`\n${TAG}\n\`\`\`\`\n`],
    ['the tag in a code block that is never closed', `\`\`\`\n${TAG}`],
    ['the tag after a code block that is never closed', `\`\`\`sh\nnpm test\n\n${TAG}`],
    ['the tag in an open to-do item', `- [ ] ${TAG}`],
    ['the tag in an open to-do item with a number', `1. [ ] ${TAG}`],
    ['the tag next to an open box', `☐ ${TAG}`],
    ['the tag in <pre>', `<pre>\n${TAG}\n</pre>`],
    ['the tag in <pre> with a class', `<pre class="log">${TAG}</pre>`],
    ['the tag in a comment', `<!-- ${TAG} -->`],
    ['the tag in a comment of several lines', `I go on.\n<!--\n\n${TAG}\n-->`],
    ['the tag in a comment after a sentence', `I go on. <!-- ${TAG} -->`],
    ['the tag in a quote', `> ${TAG}`],
    ['the tag in a quote of a quote', `>> ${TAG}`],
    ['the tag in a quote in a list', `- > ${TAG}`],
    ['the tag in the last line of a quote, without its mark', `> You said that the last line is.\n${TAG}`],
    ['a signal that is part of a word', 'MY_TASK_COMPLETE'],
    ['a signal that continues', 'TASK_COMPLETED'],
    ['a signal within letters of another language', 'éTASK_COMPLETEé'],
    ['a signal in small letters', 'task_complete'],
    ['a claim next to a request for a person', `I fixed it.\n<ask>May I delete the data?</ask>\n\n${TAG}`],
    ['a claim above a request for a person', `${TAG}\n\n<ask>May I delete the data?</ask>`],
    ['a phrase next to a request for a person', 'All tests passing.\n<ask>May I?</ask>'],
    ['a phrase that is part of a sentence', 'I will stop with all tests passing.'],
    ['a phrase that continues', 'All tests passing on my machine so far'],
    ['a phrase with a condition', 'Ready for review once CI is green.'],
    ['a phrase as a question', 'All tests passing?'],
    ['a phrase denied', 'All tasks are not complete.'],
    ['a phrase planned', 'All tasks will be complete.'],
    ['a phrase with an exception', 'All tasks but one are complete.'],
    ['a phrase that is almost true', 'All tasks are almost complete.'],
    ['a phrase in a code block', '```\nAll tests passing\n```'],
    ['a phrase in an open to-do item', '- [ ] All tests passing'],
  ])('is %s', (_, text) => {
    expectKind(text, 'none')
  })

  test('is a signal only if no custom promise was requested', () => {
    const text = 'I added the enum values TASK_PENDING and TASK_COMPLETE.'
    expect(kindOf(text, { promise: 'ALL DONE', signals: [] })).toBe('none')
    expect(kindOf('TASK_COMPLETE', { promise: 'ALL DONE', signals: [] })).toBe('none')
  })
})

describe('among several claims', () => {
  const staged = { stages: ['TESTS_PASS', 'DOCS'] }

  test.each<[story: string, text: string, stage: string | undefined]>([
    ['the promise of the loop has no stage', TAG, undefined],
    ['a stage is named', claimTag('DOCS'), 'DOCS'],
    ['the first of several stages in a row counts', `${claimTag('TESTS_PASS')}\n${claimTag('DOCS')}`, 'TESTS_PASS'],
    ['the first open stage counts', `${claimTag('DOCS')}\n${claimTag('TESTS_PASS')}`, 'TESTS_PASS'],
    ['stages on one line count as well', `All done. ${claimTag('TESTS_PASS')} **${claimTag('DOCS')}**`, 'TESTS_PASS'],
    ['the last stage counts', `${claimTag('TESTS_PASS')}\n\nNow the docs.\n\n${claimTag('DOCS')}`, 'DOCS'],
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
      form: 'mentioned',
      stage: 'DOCS',
    })
  })

  test('the last counts, even if an earlier one is clearer', () => {
    expect(kindOf(`${TAG}\n\nAs I said, I print ${TAG} only at the end.`)).toBe('mentioned')
  })

  test('the longer of two signals counts', () => {
    expect(kindOf('I fixed it. DONE NOW', { signals: ['DONE', 'DONE NOW'] })).toBe('clear')
  })

  test('a stage with the name of the promise is that stage', () => {
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
    expect(kindOf(`I will not say ${claimTag(promise)} yet.`, { promise })).toBe('mentioned')
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

  test('is not read as a pattern', () => {
    expect(kindOf(claimTag('aaa'), { promise: 'a+' })).toBe('none')
    expect(kindOf(claimTag('abc'), { promise: 'a.c' })).toBe('none')
    expect(kindOf('TASK-COMPLETE', { signals: ['TASK.COMPLETE'] })).toBe('none')
  })
})

describe('a claim without checks is accepted', () => {
  test.each([
    ['clear', loopAfter(unchecked, works, works), 'clear', 0, true],
    ['without a form, as older loops have it, twice', loopAfter(unchecked, works), 'weak', 2, true],
    ['stated, once', loopAfter(unchecked, works), 'stated', 1, false],
    ['stated, once, without further progress', loopAfter(unchecked, works, idles, idles), 'stated', 1, false],
    ['stated, twice', loopAfter(unchecked, works), 'stated', 2, true],
    ['stated, twice, without any progress ever', loopAfter(unchecked, idles), 'stated', 2, true],
    ['mentioned, often', loopAfter(unchecked, works, idles, idles), 'mentioned', 9, false],
    ['a phrase, once', loopAfter(unchecked, works, idles), 'phrase', 1, false],
    ['a phrase, twice, while work continues', loopAfter(unchecked, works, works), 'phrase', 2, false],
    ['a phrase, twice, the second time without a change', loopAfter(unchecked, works, idles), 'phrase', 2, true],
    ['none, without further progress', loopAfter(unchecked, works, idles, idles), 'none', 0, false],
  ] as const)('%s', (_, { tally }, kind, weak, accepted) => {
    expect(isAccepted({ ...tally, claim: claimOf(kind), weak })).toBe(accepted)
  })

  test.each([
    ['stated', loopAfter(unchecked, works), 'stated', true],
    ['stated, nothing has changed', loopAfter(unchecked, idles), 'stated', false],
    ['stated, the tree is unknown', loopAfter(blind(unchecked), works), 'stated', true],
    ['mentioned', loopAfter(unchecked, works), 'mentioned', false],
    ['a phrase', loopAfter(unchecked, works), 'phrase', false],
    ['none', loopAfter(unchecked, works), 'none', false],
  ] as const)('on the last turn: %s', (_, { tally }, kind, accepted) => {
    expect(isAccepted({ ...tally, claim: claimOf(kind), weak: 1 }, true)).toBe(accepted)
  })

  test('if it is clear and something has changed', () => {
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
  ])('for nothing with %s', (_, text) => {
    expect(readAsk(text)).toBeUndefined()
  })

  test('in words that are truncated', () => {
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

  test('of a short prompt must be all of it', () => {
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
    expect(kindOf(words)).toBe('mentioned')
    expect(kindOf(withoutEcho(words, prompt))).toBe('none')
  })
})

describe('text of a million characters is read in a moment', () => {
  const fill = (part: string) => part.repeat(Math.ceil(1_000_000 / part.length))

  test.each<[what: string, text: string, kind: string]>([
    ['letters', fill('x'), 'none'],
    ['spaces', fill(' '), 'none'],
    ['spaces before the tag', fill(' ') + TAG, 'clear'],
    ['spaces within the tag', `<promise>${fill(' ')}COMPLETE</promise>`, 'clear'],
    ['lines', fill('\n'), 'none'],
    ['lines before the tag', `${fill('All is well.\n')}${TAG}`, 'clear'],
    ['sentences before the tag', `${fill('a. ')}and so ${TAG} it is`, 'mentioned'],
    ['dashes', `${fill('-')}a${fill('-')}b`, 'none'],
    ['marks of decoration', `${fill('*')}\n${TAG}`, 'clear'],
    ['tags that are opened', fill('<promise>'), 'none'],
    ['tags that are opened and followed by spaces', fill('<promise>          '), 'none'],
    ['tags of another promise', fill(claimTag('OTHER')), 'none'],
    ['tags in refusals, one per line', fill(`I will not say ${TAG} yet.\n`), 'mentioned'],
    ['tags in refusals, in one line', fill(`not ${TAG} `), 'mentioned'],
    ['tags in mid-sentence', `${fill(`and ${TAG} `)}it is`, 'mentioned'],
    ['tags alone', fill(`${TAG}\n`), 'clear'],
    ['signals', fill('not TASK_COMPLETE '), 'mentioned'],
    ['letters before the tag', `${fill('x')} ${TAG}`, 'mentioned'],
    ['letters above the tag', `${fill('x')}\n${TAG}`, 'mentioned'],
    ['full stops above the tag', `${fill('a. ')}\n${TAG}`, 'mentioned'],
    ['exclamation marks above the tag', `a${fill('!')}\n${TAG}`, 'mentioned'],
    ['colons above the tag', `${fill(':')}\n\n${TAG}`, 'stated'],
    ['letters after the tag', `${TAG}\n${fill('x')}`, 'stated'],
    ['comments that are opened', fill('<!--'), 'none'],
    ['comments', `${fill(`<!-- ${TAG} -->`)}\n${TAG}`, 'clear'],
    ['code that is opened', fill('<pre>'), 'none'],
    ['code blocks with the tag', fill(`\`\`\`\n${TAG}\n\`\`\`\n`), 'stated'],
    ['escape sequences', `${fill('\u001b[38:5:1m')}${TAG}`, 'clear'],
    ['escape characters', `${fill('\u001b')}\n${TAG}`, 'clear'],
    ['titles that are opened', fill('\u001b]'), 'none'],
    ['requests in comments', `${fill('<ask>')}</ask>`, 'none'],
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
    ['requests that are never closed, one per line', fill('<ask>\n')],
    ['polite beginnings', fill('please ')],
    ['waiting', fill('waiting for your ')],
  ])('%s', (_, text) => {
    const started = performance.now()
    expect(readAsk(text)).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('ten million characters between the tags of a request', () => {
    expect(readAsk(`<ask>${'x'.repeat(10_000_000)}</ask>`)?.kind).toBe('person')
    expect(kindOf(`<ask>${'<'.repeat(10_000_000)}`)).toBe('none')
    expect(kindOf(`${'All is well.\n'.repeat(1_000_000)}${TAG}`)).toBe('clear')
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

test('a signal may be a tag', () => {
  const tagged = { ...claimable, signals: ['TASK_COMPLETE', claimTag('DONE')] }
  expect(readClaim(`It works.\n\n${claimTag('DONE')}`, tagged)).toEqual({ kind: 'clear' })
  expect(readClaim('It works.\n\nDONE', tagged)).toEqual({ kind: 'none' })
  expect(readClaim(`It works.\n\n${claimTag('DONE')}`, claimable)).toEqual({ kind: 'none' })
})
