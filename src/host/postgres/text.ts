/** Texts that Postgres refuses: it keeps no NUL bytes. They stand as a pair of characters that no text uses, and come back as they were. */

const ESCAPE = '\ufdd0'
const NUL = `${ESCAPE}\ufdd1`
const ESCAPED = `${ESCAPE}\ufdd2`

/** Character by character, so that a part of a text is found in what it became. */
export function encodeText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, ESCAPED).replaceAll('\0', NUL)
}

export function decodeText(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(NUL, '\0').replaceAll(ESCAPED, ESCAPE)
}
