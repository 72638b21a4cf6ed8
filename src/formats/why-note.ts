/** <file>.why.md: the note next to a file in Failed. The frontmatter is for ralph, the rest for people. */
import { splitFrontmatter } from './frontmatter.ts'
import { parseYaml } from './yaml-value.ts'

export type WhyNote = {
  /** `refused`: it was never started. */
  kind: 'failed' | 'refused'
  /** Where the file came from, relative to the vault. */
  from: string
  why: string
}

type Printed = WhyNote & { title: string; facts: readonly string[]; advice?: string }

/** Outside input is quoted, so that no character has a special meaning. */
export function printWhyNote({ kind, from, title, why, facts, advice }: Printed): string {
  const head = `---\nralph: ${kind}\nfrom: ${JSON.stringify(from)}\n---`
  const list = facts.map((fact) => `- ${fact}`).join('\n')
  const below = [list, advice].filter(Boolean)
  return `${[head, `# ${title}`, why, ...below].join('\n\n')}\n`
}

/** Undefined for notes that ralph did not write. */
export function parseWhyNote(text: string): WhyNote | undefined {
  const [head, body = ''] = splitFrontmatter(text)
  const kind = head === undefined ? undefined : headField(head, 'ralph')
  const from = head === undefined ? undefined : headField(head, 'from')
  if (from === undefined || (kind !== 'failed' && kind !== 'refused')) return undefined
  const [, why = ''] = /^\s*# .+?\n\n(.*?)\n(?:\n|$)/s.exec(body.replaceAll('\r\n', '\n')) ?? []
  return { kind, from, why }
}

function headField(head: string, key: string): string | undefined {
  const line = head.split('\n').find((one) => one.startsWith(`${key}:`))
  const value = line === undefined ? undefined : parseYaml(line.slice(key.length + 1))
  return typeof value === 'string' ? value : undefined
}
