/** Makes foreign text safe for a terminal: no escape sequences, no direction overrides, nothing invisible. */

/** Keeps line breaks, tabs and visible characters. A carriage return ends a line, so overwritten text is shown too. */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text
  return text
    .replace(SEQUENCES, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u2028\u2029]/g, ' ')
    .replace(HIDDEN, (_, joined = '') => joined)
}

/** JSON that is safe for a terminal: what would be dropped is escaped instead, so it still parses to the same value. */
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

// CSI; OSC, DCS, SOS, PM and APC with their payload, to their end or the line's; all others. Each also in its 8-bit form.
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n\r]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g

// A joiner between two emoji matches first and stays. The rest goes: controls, formats (except the Arabic number signs
// that are visible), lone surrogates, noncharacters, and default-ignorable characters (except the two selectors
// that choose between text and emoji).
const HIDDEN =
  /(?<=\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}])(\u200d)(?=\p{Extended_Pictographic})|(?!\ufe0e|\ufe0f|[\n\t\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu
