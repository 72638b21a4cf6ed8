/** A quick checksum of texts, to see whether they changed. */

/**
 * Two mixed sums of everything added. Nobody has a reason to forge them, and loading a real hash takes longer than
 * computing them.
 */
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
