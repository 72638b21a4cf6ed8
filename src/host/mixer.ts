/** A quick sum of texts, to see whether they are the same as before. */

/** Two mixed sums of all that was added. Nobody has a reason to forge them, and to load a real hash takes longer than to look. */
export function mixer(): { add(text: string): void; text(): string } {
  let [one, two] = [0x811c9dc5, 0x9e3779b9]
  return {
    add(text) {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        one = Math.imul(one ^ code, 0x01000193)
        two = Math.imul(two ^ code, 0x85ebca6b) ^ (two >>> 13)
      }
    },
    text: () => [one, two].map((sum) => (sum >>> 0).toString(16).padStart(8, '0')).join(''),
  }
}
