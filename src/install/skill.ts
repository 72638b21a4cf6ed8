/** A command text as a skill, for agents without commands. */
import { splitFrontmatter } from '../formats/frontmatter.ts'

/** `command` may start with fields between `---` lines; a skill keeps the description. */
export function skillOf(name: string, command: string): string {
  const [head = '', body = command] = splitFrontmatter(command)
  const description = /^description:.*$/m.exec(head)?.[0] ?? `description: ${name}`
  return `---\nname: ${name}\n${description}\n---\n${body}`
}
