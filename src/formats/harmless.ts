/** Foreign text for a terminal: nothing in it is an order to the terminal, turns the direction of others, or is there unseen. */

/** Lines, tabs and what can be seen. A carriage return ends a line: what was drawn over is shown, too. */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replace(SEQUENCES, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u2028\u2029]/g, ' ')
    .replace(HIDDEN, (_, joined = '') => joined)
}

/** A value as JSON whose text is harmless: what would be left out is escaped, which no parser minds. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  if (PLAIN.test(text)) return text
  return text.replace(/[\u2028\u2029]/g, escaped).replace(HIDDEN, (found, joined) => joined ?? escaped(found))
}

function escaped(letter: string): string {
  return letter
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

const PLAIN = /^[\n\t\x20-\x7e]*$/

// CSI; OSC, DCS, SOS, PM and APC with what they carry, to their end or the end of the line; all others. Each also in the form of 8 bits.
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n\r]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g

// A joiner between two emoji is found first, and stays. The rest goes: controls, formats (but the signs of Arabic and its kin
// that are seen before a number), half letters, what is no letter, and all that fonts are told to ignore (but the two marks
// that say whether a sign is drawn as an emoji).
const HIDDEN =
  /(?<=\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}])(\u200d)(?=\p{Extended_Pictographic})|(?!\ufe0e|\ufe0f|[\n\t\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu
