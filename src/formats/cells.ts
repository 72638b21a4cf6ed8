/** How many terminal cells a text takes; overestimates if in doubt, because Pi exits when a line is too wide. */
export function cellsOf(text: string): number {
  let cells = 0
  for (const letter of text) cells += letter === EMOJI ? 1 : NOTHING.test(letter) ? 0 : isNarrow(letter) ? 1 : 2
  return cells
}

/** After a character, it turns it into an emoji, which is wide. */
const EMOJI = '\ufe0f'
/** Combines with the preceding character. */
const NOTHING = /[\p{Mn}\p{Me}\u200d]/u

function isNarrow(letter: string): boolean {
  return NARROW.test(letter) && !WIDE.test(letter)
}

// Letters of Europe and the Near East, punctuation, currencies, arrows, lines, boxes and other signs.
const NARROW = /[\u0020-\u10ff\u2000-\u2bff]/
// Some terminals draw those that have an emoji form as emoji.
const WIDE = /[\u2329\u232a\u2630-\u2637\u268a-\u268f]|\p{Extended_Pictographic}/u
