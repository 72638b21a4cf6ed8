/** How many cells of a terminal a text takes, rather too many than too few: Pi ends itself when a line is too wide. */
export function cellsOf(text: string): number {
  let cells = 0
  for (const letter of text) cells += letter === EMOJI ? 1 : NOTHING.test(letter) ? 0 : isNarrow(letter) ? 1 : 2
  return cells
}

/** Behind a letter it makes an emoji of it, which is wide. */
const EMOJI = '\ufe0f'
/** What joins the letter before it. */
const NOTHING = /[\p{Mn}\p{Me}\u200d]/u

function isNarrow(letter: string): boolean {
  return NARROW.test(letter) && !WIDE.test(letter)
}

// Letters of Europe and the Near East, punctuation, currencies, arrows, lines, boxes and other signs.
const NARROW = /[\u0020-\u10ff\u2000-\u2bff]/
// What may be drawn as an emoji among them is, in some terminals.
const WIDE = /[\u2329\u232a\u2630-\u2637\u268a-\u268f]|\p{Extended_Pictographic}/u
