/** make and just: which targets a command makes, and what their recipes run. */
import { isGlob, matchesPath } from './glob.ts'
import { type Block, parseMakefile } from './makefile.ts'
import type { Means } from './means.ts'
import { type Following, followShell, join, type Where } from './means-follow.ts'

export async function followMake(following: Following, args: readonly string[], where: Where): Promise<void> {
  const optionOf = (short: string, long: string) => {
    const at = args.findIndex((word) => word === short || word === long)
    if (at >= 0) return args[at + 1]
    return args.find((word) => word.startsWith(`${long}=`))?.slice(long.length + 1)
  }
  const inside = optionOf('-C', '--directory')
  const cwd = inside === undefined ? where.cwd : (join(where.cwd, inside) ?? where.cwd)
  const named = optionOf('-f', '--file')
  const names = named === undefined ? ['GNUmakefile', 'makefile', 'Makefile'] : [named]
  const path = names.map((name) => join(cwd, name) ?? '').find((file) => following.files.paths.has(file))
  if (path === undefined) return
  const goals = args.filter(
    (word, at) => !/^-|=/.test(word) && !/^(-C|-f|-j|--directory|--file|-I|-o)$/.test(args[at - 1] ?? ''),
  )
  await followGoals(following, path, goals, { ...where, cwd, beside: cwd })
}

async function followGoals(following: Following, path: string, goals: readonly string[], where: Where): Promise<void> {
  const text = (await following.files.read(path)) ?? ''
  const blocks = parseMakefile(text)
  if (!blocks) {
    // Its rules cannot be told apart, so the file counts as a whole, and everything that it runs.
    following.found.set(path, { role: 'script', part: 'whole' })
    for (const [, line = ''] of text.matchAll(/^\t(.*)$/gm))
      await followShell(following, recipeLine(line, new Map()), where)
    return
  }
  const { all, included } = await readIncluded(following, blocks, where)
  const variables = new Map(
    all.flatMap((block) => (block.kind === 'variable' ? [[block.name, block.value] as const] : [])),
  )
  const wanted = closure(all, goals.length > 0 ? goals : defaultGoal(all, variables))
  const used = new Set<string>()
  const recipes = all.flatMap((block) =>
    block.kind === 'rule' && block.rule.targets.some((target) => wanted.has(target)) ? block.rule.recipe : [],
  )
  for (const line of recipes) usedVariables(line, variables, used)
  for (const file of included) following.found.set(file, { role: 'script', part: 'whole' })
  takeTargets(following.found, path, [...wanted], [...used])
  // A file with the name of a target tells make that there is nothing to do.
  const phony = new Set(
    all.flatMap((block) => (block.kind === 'rule' && block.rule.targets.includes('.PHONY') ? block.rule.needs : [])),
  )
  for (const target of goals.filter((goal) => !phony.has(goal))) {
    const file = join(where.cwd, target)
    if (file !== undefined && following.files.paths.has(file))
      following.found.set(file, { role: 'shadow', part: 'whole' })
  }
  const visit = `${path}\0${[...wanted].join(' ')}`
  if (following.seen.has(visit)) return
  following.seen.add(visit)
  for (const line of recipes) await followShell(following, recipeLine(line, variables), where)
}

async function readIncluded(
  following: Following,
  blocks: readonly Block[],
  { cwd }: Where,
): Promise<{ all: Block[]; included: string[] }> {
  const all = [...blocks]
  const included: string[] = []
  for (let at = 0; at < all.length && included.length < 50; at++) {
    const block = all[at]
    if (block?.kind !== 'include') continue
    for (const file of block.paths.flatMap((name) => filesNamed(following, cwd, name))) {
      if (included.includes(file)) continue
      included.push(file)
      all.push(...(parseMakefile((await following.files.read(file)) ?? '') ?? []))
    }
  }
  return { all, included }
}

function filesNamed({ files }: Following, cwd: string, name: string): string[] {
  const path = join(cwd, name)
  if (path === undefined) return []
  if (isGlob(name)) return [...files.paths].filter((one) => matchesPath(one, path))
  return files.paths.has(path) ? [path] : []
}

function defaultGoal(blocks: readonly Block[], variables: ReadonlyMap<string, string>): string[] {
  const set = variables.get('.DEFAULT_GOAL')
  if (set) return [set]
  for (const block of blocks) {
    const first = block.kind === 'rule' ? block.rule.targets.find((target) => !/^\.[A-Z]|%/.test(target)) : undefined
    if (first) return [first]
  }
  return []
}

/** The goals and everything they need that a rule makes. */
function closure(blocks: readonly Block[], goals: readonly string[]): Set<string> {
  const wanted = new Set(goals)
  for (const goal of wanted)
    for (const block of blocks)
      if (block.kind === 'rule' && block.rule.targets.includes(goal))
        for (const need of block.rule.needs) wanted.add(need)
  return wanted
}

const VARIABLE = /\$(?:\(([\w.-]+)\)|\{([\w.-]+)\}|(\w))/g

function usedVariables(text: string, variables: ReadonlyMap<string, string>, used: Set<string>): void {
  for (const [, one, two, three] of text.replaceAll('$$', '').matchAll(VARIABLE)) {
    const name = one ?? two ?? three ?? ''
    if (used.has(name)) continue
    used.add(name) // also one that is not set yet: to set it changes the recipe
    usedVariables(variables.get(name) ?? '', variables, used)
  }
}

/** A line of a recipe as the shell gets it. */
function recipeLine(line: string, variables: ReadonlyMap<string, string>, depth = 0): string {
  const plain = depth === 0 ? line.replace(/^\s*[@+-]+/, '').replaceAll('$$', '\u0001') : line
  const filled = plain.replace(VARIABLE, (_, one, two, three) => {
    const name = one ?? two ?? three
    if (name === 'MAKE') return 'make'
    return depth < 5 ? recipeLine(variables.get(name) ?? '', variables, depth + 1) : ''
  })
  return depth === 0 ? filled.replace(/\$\(shell /g, '$(').replaceAll('\u0001', '$') : filled
}

function takeTargets(found: Map<string, Means>, path: string, targets: string[], variables: string[]): void {
  const known = found.get(path)?.part
  if (known === 'whole') return
  const more = known?.kind === 'make' ? known : { targets: [], variables: [] }
  const part = {
    kind: 'make' as const,
    targets: [...new Set([...more.targets, ...targets])],
    variables: [...new Set([...more.variables, ...variables])],
  }
  found.set(path, { role: 'script', part })
}

/** Its recipes are not told apart: the file counts as a whole, and with it everything that it runs. */
export async function followJust(following: Following, where: Where): Promise<void> {
  const names = ['justfile', 'Justfile', '.justfile'].map((name) => join(where.cwd, name) ?? '')
  const path = names.find((name) => following.files.paths.has(name))
  if (path === undefined) return
  const text = (await following.files.read(path)) ?? ''
  for (const [, line = ''] of text.matchAll(/^[ \t]+[@-]?(.*)$/gm)) await followShell(following, line, where)
}
