/** Any text as one line. */

/** Each run of line breaks, tabs and other control characters becomes one space. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** The beginning of a text, never half a character; `…` marks a cut. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text // since no text has more characters than code units
  const letters = [...text]
  return letters.length <= most
    ? text
    : `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}

/** What an agent said last, for lists: the first line with text. */
export function lastWords(words: string): string {
  return cutTo(oneLine(words.split('\n').find((line) => line.trim() !== '') ?? ''), 120)
}
