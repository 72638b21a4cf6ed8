/** A text of whatever form as one line. */

/** Line breaks, tabs and other control characters become one space each run. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

/** The first letters of a text, never half of one; what is cut ends in `…`. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text // as no text has more letters than units
  const letters = [...text]
  return letters.length <= most
    ? text
    : `${letters
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`
}

/** What an agent said last, as lists quote it: the first line that says something. */
export function lastWords(words: string): string {
  return cutTo(oneLine(words.split('\n').find((line) => line.trim() !== '') ?? ''), 120)
}
