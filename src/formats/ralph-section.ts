/** Finds ralph's lines in a config.yaml without parsing it as YAML. */

/** Any other config.yaml belongs to another program. */
export function hasRalphSection(text: string): boolean {
  return text.split('\n').some((line) => OPENS.test(line))
}

const OPENS = /^\uFEFF?(["']?)ralph\1[ \t]*:/
const OPENS_OWN = /^\uFEFF?(["']?)(?:ralph|agents)\1[ \t]*:/

/** Without unindented comments and empty lines. */
export function extractSection(text: string): string {
  return join(splitLines(text).section)
}

/** Everything of ralph's in the file: how loops run, and the dispatcher's agents. */
export function extractOwn(text: string): string {
  return join(splitLines(text, OPENS_OWN).section)
}

export function mixSections(rest: string, means: string): string {
  return join([...splitLines(rest).others, ...splitLines(means).section])
}

/** Indented lines, and a list, belong to the last top-level key. */
function splitLines(text: string, opens = OPENS): { section: string[]; others: string[] } {
  const [section, others]: [string[], string[]] = [[], []]
  let isInside = false
  for (const line of text === '' ? [] : text.replace(/\n$/, '').split('\n')) {
    if (!/^(?:\s|#|-\s|$)/.test(line)) isInside = opens.test(line)
    const isOurs = isInside && line.trim() !== '' && !line.startsWith('#')
    ;(isOurs ? section : others).push(line)
  }
  return { section, others }
}

function join(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}
