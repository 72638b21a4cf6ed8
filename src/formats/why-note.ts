/** <file>.why.md: the note beside a file in Failed. Its head says for ralph what it is; the rest is for people. */
import { splitFrontmatter } from './frontmatter.ts'
import { parseYaml } from './yaml-value.ts'

export type WhyNote = {
  /** `refused`: it was never begun. */
  kind: 'failed' | 'refused'
  /** Where the file came from, from the vault on. */
  from: string
  why: string
}

type Printed = WhyNote & { title: string; facts: readonly string[]; advice?: string }

/** What comes from outside is quoted, so that no character of it means anything. */
export function printWhyNote({ kind, from, title, why, facts, advice }: Printed): string {
  const head = `---\nralph: ${kind}\nfrom: ${JSON.stringify(from)}\n---`
  const list = facts.map((fact) => `- ${fact}`).join('\n')
  const below = [list, advice].filter(Boolean)
  return `${[head, `# ${title}`, why, ...below].join('\n\n')}\n`
}

/** Undefined for what somebody else wrote. */
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
