/** What make does for given goals: which rules and variables count, and which lines it runs. */
import { isGlob, pathMatcher } from './glob.ts'
import type { Block, Rule } from './makefile.ts'
import type { Files } from './means.ts'
import { join } from './means-paths.ts'

export type Plan = {
  /** As written in the makefile, patterns included. */
  targets: string[]
  variables: string[]
  recipes: string[]
  /** False: some prerequisites are computed in a way this parser does not understand. */
  isClear: boolean
}

export function variablesIn(blocks: readonly Block[]): Map<string, string> {
  const variables = new Map<string, string>()
  for (const block of blocks) {
    if (block.kind !== 'variable') continue
    const isMore = /^[^=]*\+=/.test(block.text)
    variables.set(block.name, isMore ? `${variables.get(block.name) ?? ''} ${block.value}` : block.value)
  }
  return variables
}

/** The goals and everything they need. */
export function planGoals(files: Files, blocks: readonly Block[], goals: readonly string[], cwd: string): Plan {
  const variables = variablesIn(blocks)
  const rules = blocks.flatMap((block) => (block.kind === 'rule' ? [written(block.rule, variables)] : []))
  const lists: Lists = { files, cwd, known: new Map() }
  const apply = (text: string) => expandFunctions(lists, text)
  const listed = (text: string) => apply(expandVariables(text, variables, apply))
  const wanted = new Set(goals)
  const targets = new Set(goals)
  const used = new Set<string>()
  const recipes: string[] = []
  let isClear = true
  let [count, length] = [0, 0]
  for (const goal of wanted) {
    if (++count > MOST_TARGETS || length > MOST_NEEDS) {
      isClear = false
      recipes.push(...rules.flatMap((rule) => recipeForAny(rule, listed(rule.needs.join(' ')))))
      break
    }
    const made = rulesFor(rules, goal)
    for (const { rule, stem } of made) {
      const { targets: names, needs, recipe } = rule
      for (const name of names) if (name === goal || stem !== undefined || name.includes('$')) targets.add(name)
      usedVariables(needs.join(' '), variables, used)
      const all = listed(needs.join(' ').replaceAll('%', stem ?? '%'))
      if (/\$[({]/.test(all)) isClear = false
      const words = all.split(/\s+/).filter((word) => word !== '')
      for (const need of words) wanted.add(need)
      length += words.length
      for (const line of recipe) {
        usedVariables(line, variables, used)
        recipes.push(automatic(line, goal, words, stem))
      }
    }
    // make's built-in rules use these.
    if (made.every(({ rule }) => rule.recipe.length === 0)) for (const name of BUILT_IN) used.add(name)
    else targets.add(goal)
  }
  return { targets: [...new Set([...targets, ...wanted])], variables: [...used], recipes, isClear }
}

const MOST_TARGETS = 2000
const MOST_NEEDS = 500_000
const BUILT_IN =
  'CC CXX CPP FC AR AS LD CFLAGS CXXFLAGS CPPFLAGS FFLAGS ASFLAGS LDFLAGS LDLIBS LOADLIBES ARFLAGS TARGET_ARCH'.split(
    ' ',
  )

/** Target names may be variables too. */
function written(rule: Rule, variables: ReadonlyMap<string, string>): Rule {
  const expanded = expandVariables(rule.targets.join(' '), variables).split(/\s+/)
  return { ...rule, targets: [...new Set([...rule.targets, ...expanded])] }
}

type Made = { rule: Rule; stem?: string }

/** The rules that name the goal and, if none has a recipe, the patterns that match it. */
function rulesFor(rules: readonly Rule[], goal: string): Made[] {
  const named = rules.filter(({ targets }) => targets.includes(goal)).map((rule): Made => ({ rule }))
  if (named.some(({ rule }) => rule.recipe.length > 0)) return named
  const patterns = rules.flatMap((rule) => {
    const own = suffixRule(rule) ?? rule
    const stems = own.targets.flatMap((target) => stemOf(target, goal) ?? [])
    return stems.slice(0, 1).map((stem): Made => ({ rule: { ...own, targets: rule.targets }, stem }))
  })
  return [...named, ...patterns]
}

function stemOf(target: string, goal: string): string | undefined {
  const at = target.indexOf('%')
  if (at < 0) return undefined
  const [start, end] = [target.slice(0, at), target.slice(at + 1)]
  const isMatch = goal.startsWith(start) && goal.endsWith(end) && goal.length > start.length + end.length
  return isMatch ? goal.slice(start.length, goal.length - end.length) : undefined
}

/** `.c.o:` is the older form of `%.o: %.c`. */
function suffixRule(rule: Rule): Rule | undefined {
  const [, from, to] = /^(\.\w+)(\.\w+)$/.exec(rule.targets[0] ?? '') ?? []
  return from === undefined ? undefined : { ...rule, targets: [`%${to}`], needs: [`%${from}`] }
}

function automatic(line: string, goal: string, needs: readonly string[], stem: string | undefined): string {
  const values: Record<string, string> = { '@': goal, '<': needs[0] ?? '', '^': needs.join(' '), '*': stem ?? '' }
  const shielded = line.replaceAll('$$', '\u0002')
  return shielded
    .replace(/\$(?:([@<^*])|\(([@<^*])[DF]?\))/g, (_, one, two) => values[one ?? two] ?? '')
    .replaceAll('\u0002', '$$$$')
}

/** The recipe with an unknown shell variable for whatever the pattern matches. */
function recipeForAny({ targets, recipe }: Rule, needs: string): string[] {
  const any = (text: string) => text.replaceAll('%', '$$$$any')
  const words = any(needs)
    .split(/\s+/)
    .filter((word) => word !== '')
  return recipe.map((line) => automatic(line, any(targets.at(-1) ?? ''), words, '$$any'))
}

const VARIABLE = /\$(?:\(([\w.-]+)\)|\{([\w.-]+)\}|(\w))/g
/** `$(CASES:.sh=.ok)`; function names are followed by a space. */
const NAMED = /\$(?:[({]([\w.-]+)(?::[^(){}]*)?[)}]|(\w))/g

function usedVariables(text: string, variables: ReadonlyMap<string, string>, used: Set<string>): void {
  for (const [, one, two] of text.replaceAll('$$', '').matchAll(NAMED)) {
    const name = one ?? two ?? ''
    if (used.has(name)) continue
    used.add(name) // even if it is not set yet: setting it changes the recipe
    usedVariables(variables.get(name) ?? '', variables, used)
  }
}

/** A recipe line as the shell receives it. */
export function recipeLine(line: string, variables: ReadonlyMap<string, string>): string {
  const plain = line.replace(/^\s*[@+-]+/, '').replaceAll('$$', '\u0001')
  return expandVariables(plain, variables)
    .replace(/\$\(shell /g, '$(')
    .replaceAll('\u0001', '$')
}

/** Expands variables (unset ones to nothing); `apply` turns a function into a list. */
export function expandVariables(
  text: string,
  variables: ReadonlyMap<string, string>,
  apply: (text: string) => string = (same) => same,
  depth = 0,
): string {
  const valueBehind = (name: string) =>
    depth < 5 ? expandVariables(variables.get(name) ?? '', variables, apply, depth + 1) : ''
  return text
    .replace(VARIABLE, (_, one, two, three) =>
      (one ?? two ?? three) === 'MAKE' ? 'make' : valueBehind(one ?? two ?? three),
    )
    .replace(/\$[({]([\w.-]+):([^(){}=]*)=([^(){}=]*)[)}]/g, (_, name, from, to) =>
      substitute(apply(valueBehind(name)), from, to),
    )
}

function substitute(list: string, from: string, to: string): string {
  const [pattern, result] = from.includes('%') ? [from, to] : [`%${from}`, `%${to}`]
  return list
    .split(/\s+/)
    .map((word) => {
      const stem = stemOf(pattern, word)
      return stem === undefined ? word : result.replaceAll('%', stem)
    })
    .join(' ')
}

/** The functions used to build prerequisite lists; any other stays as it is. */
function expandFunctions(lists: Lists, text: string): string {
  let [now, last] = [text, '']
  for (let turn = 0; turn < 10 && now !== last; turn++) {
    last = now
    now = now.replace(
      /\$[({](wildcard|patsubst|addprefix|addsuffix|sort|strip|filter-out|notdir|basename)\s+([^(){}$]*)[)}]/g,
      (_, name, args) => applied(lists, name, args),
    )
  }
  return now
}

function applied(lists: Lists, name: string, args: string): string {
  const [first = '', second = '', third = ''] = args.split(',').map((part) => part.trim())
  const each = (list: string, change: (word: string) => string) => list.split(/\s+/).map(change).join(' ')
  switch (name) {
    case 'wildcard':
      return each(first, (word) => matching(lists, word))
    case 'patsubst':
      return substitute(third, first, second)
    case 'addprefix':
      return each(second, (word) => `${first}${word}`)
    case 'addsuffix':
      return each(second, (word) => `${word}${first}`)
    case 'notdir':
      return each(first, (word) => word.slice(word.lastIndexOf('/') + 1))
    case 'basename':
      return each(first, (word) => word.replace(/\.[^./]*$/, ''))
    default:
      return name === 'filter-out' ? second : first
  }
}

/** `known`: a cache of what each pattern matches; rules ask for the same one for every target. */
type Lists = { files: Files; cwd: string; known: Map<string, string> }

function matching({ files, cwd, known }: Lists, word: string): string {
  const whole = join(cwd, word)
  if (whole === undefined || !isGlob(word)) return word
  const found = known.get(whole) ?? pathsLike(files, whole, cwd)
  known.set(whole, found)
  return found
}

function pathsLike({ paths }: Files, glob: string, cwd: string): string {
  const found = [...paths].filter(pathMatcher(glob))
  return (cwd === '' ? found : found.map((path) => path.slice(cwd.length + 1))).join(' ')
}
