/** A command text as a skill, for agents that know no commands. */

/** `command` begins with fields between `---` lines, of which a skill has the description. */
export function skillOf(name: string, command: string): string {
  const [, fields = '', body = command] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n([\s\S]*)$/.exec(command) ?? []
  const description = /^description:.*$/m.exec(fields)?.[0] ?? `description: ${name}`
  return `---\nname: ${name}\n${description}\n---\n${body}`
}
