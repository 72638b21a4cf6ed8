/**
 * Encodes texts that Postgres refuses: it stores no NUL bytes. They become a pair of characters that no text uses, and
 * are decoded when read.
 */

const ESCAPE = '\ufdd0'
const NUL = `${ESCAPE}\ufdd1`
const ESCAPED = `${ESCAPE}\ufdd2`

/** Character by character, so that a part of a text is found in its encoded form. */
export function encodeText(text: string): string {
  if (!text.includes('\0') && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, ESCAPED).replaceAll('\0', NUL)
}

export function decodeText(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(NUL, '\0').replaceAll(ESCAPED, ESCAPE)
}
