/** Parses makefiles, as far as needed to say which lines belong to a target. */

export type Rule = { targets: string[]; needs: string[]; recipe: string[] }
export type Block = { text: string } & (
  | { kind: 'rule'; rule: Rule }
  /** `isRun`: it reaches every recipe, or runs a program itself. */
  | { kind: 'variable'; name: string; value: string; isRun?: true }
  | { kind: 'include'; paths: string[] }
  /** Runs for every goal: an export, a function call on its own line. */
  | { kind: 'directive' }
  | { kind: 'other' }
)

/** The blocks in order; joined, they are the file. Undefined: conditionals or generated rules tie them together. */
export function parseMakefile(text: string): Block[] | undefined {
  if (/^[ \t]*(ifn?(eq|def)|define|else|endif)\b|^[ \t]*export[ \t]*$|\$\((eval|call|foreach)\b/m.test(text))
    return undefined
  const blocks: Block[] = []
  for (const line of logicalLines(text)) {
    const last = blocks.at(-1)
    const belongs = line.startsWith('\t') || (/^\s*(#.*)?\n?$/.test(line) && /^\s/.test(line) && line.trim() !== '')
    if (belongs && last?.kind === 'rule') {
      last.text += line
      last.rule.recipe.push(line.trim().replace(/\\\n\t?/g, ' '))
    } else blocks.push(readBlock(line))
  }
  return blocks
}

/** Lines with their breaks; a backslash at the end continues a line. */
function logicalLines(text: string): string[] {
  return text.match(/(?:[^\n\\]|\\[\s\S]|\\$)*(?:\n|$)/g)?.filter((line) => line !== '') ?? []
}

function readBlock(text: string): Block {
  const line = text.replace(/\\\n/g, ' ').trim()
  const variable = /^(?:(?:export|override|unexport|private)\s+)*([\w.-]+)\s*(?:[:?+!]|::)?=\s*(.*)$/.exec(line)
  if (variable) {
    const [, name = '', value = ''] = variable
    const isRun = /^(override\s+|private\s+)*export\b|\$[({]shell\b|^[^=]*!=/.test(line)
    return { kind: 'variable', name, value, text, ...(isRun ? { isRun } : {}) }
  }
  const include = /^(?:-|s)?include\s+(.*)$/.exec(line)
  if (include) return { kind: 'include', paths: words(include[1] ?? ''), text }
  const isNamed = /^\$[({][\w.-]+[)}][^:=]*:(?!=)/.test(line) // a rule with its targets in a variable
  if (/^(export|unexport|undefine|vpath|-?load)\s|^\$[({]/.test(line) && !isNamed) return { kind: 'directive', text }
  const rule = /^([^#=:\t][^#=:]*?)\s*::?(?!=)\s*([^#;]*)(?:;(.*))?/.exec(line)
  if (!rule || line.startsWith('#')) return { kind: 'other', text }
  const recipe = rule[3] === undefined ? [] : [rule[3].trim()]
  // `test: NAME = value` sets a variable for one target and belongs to it.
  return { kind: 'rule', rule: { targets: words(rule[1] ?? ''), needs: words(rule[2] ?? ''), recipe }, text }
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '' && word !== '|')
}

/** These change how every recipe runs. */
const ALWAYS =
  /^(SHELL|\.SHELLFLAGS|MAKEFLAGS|GNUMAKEFLAGS|PATH|VPATH|\.DEFAULT_GOAL|\.IGNORE|\.ONESHELL|\.DEFAULT|\.POSIX|\.SILENT|\.EXPORT_ALL_VARIABLES)$/

type Wanted = { targets: readonly string[]; variables: readonly string[] }

function isWanted(block: Block, { targets, variables }: Wanted): boolean {
  if (block.kind === 'include' || block.kind === 'directive') return true
  if (block.kind === 'variable')
    return block.isRun === true || ALWAYS.test(block.name) || variables.includes(block.name)
  return block.kind === 'rule' && block.rule.targets.some((name) => ALWAYS.test(name) || targets.includes(name))
}

/** Undefined when the blocks cannot be told apart. */
export function extractTargets(text: string, wanted: Wanted): string | undefined {
  return parseMakefile(text)
    ?.filter((block) => isWanted(block, wanted))
    .map((block) => ensureBreak(block.text))
    .join('')
}

/** `rest` with the wanted targets and variables from `means`; the others keep their place and their bytes. */
export function mixTargets(rest: string, means: string, wanted: Wanted): string | undefined {
  const [own, given] = [parseMakefile(rest), parseMakefile(means)?.filter((block) => isWanted(block, wanted))]
  if (!own || !given) return undefined
  const waiting = new Map<string, Block[]>()
  for (const block of given) waiting.set(keyOf(block), [...(waiting.get(keyOf(block)) ?? []), block])
  const kept = own.flatMap((block) => {
    if (!isWanted(block, wanted)) return [block]
    const there = waiting.get(keyOf(block)) ?? []
    waiting.delete(keyOf(block))
    return there
  })
  const missing = given.filter((block) => waiting.has(keyOf(block)))
  const first = given.findIndex(({ kind }) => kind === 'rule')
  const isFirst = (block: Block) => block.kind === 'variable' || first < 0 || given.indexOf(block) <= first
  const before = missing.filter(isFirst) // variables are read top down, and the first rule is the default goal
  const after = missing.filter((block) => !isFirst(block))
  return [...before, ...kept, ...after]
    .map((block, at, all) => (at < all.length - 1 ? ensureBreak(block.text) : block.text))
    .join('')
}

function keyOf(block: Block): string {
  if (block.kind === 'variable') return `variable ${block.name}`
  return block.kind === 'rule' ? `rule ${block.rule.targets.join(' ')}` : block.kind
}

function ensureBreak(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
