/** make and just: which targets a command makes, and what their recipes run. */
import { isGlob, pathMatcher } from './glob.ts'
import { expandVariables, planGoals, recipeLine, variablesIn } from './make-goals.ts'
import { type Block, parseMakefile } from './makefile.ts'
import type { Means } from './means.ts'
import type { Following, Where } from './means-follow.ts'
import { join } from './means-paths.ts'
import { followShell } from './means-shell.ts'

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
    // Its rules cannot be told apart, so the whole file counts, and everything it runs.
    following.found.set(path, { role: 'script', part: 'whole' })
    for (const [, line = ''] of text.matchAll(/^\t(.*)$/gm))
      await followShell(following, recipeLine(line, new Map()), where)
    return
  }
  const { all, included } = await readIncluded(following, blocks, where)
  const variables = variablesIn(all)
  const plan = planGoals(following.files, all, goals.length > 0 ? goals : defaultGoal(all, variables), where.cwd)
  if (!plan.isClear) following.found.set(path, { role: 'script', part: 'whole' })
  for (const file of included) following.found.set(file, { role: 'script', part: 'whole' })
  takeTargets(following.found, path, plan.targets, plan.variables)
  // A file named like a target makes make skip it.
  const phony = new Set(
    all.flatMap((block) => (block.kind === 'rule' && block.rule.targets.includes('.PHONY') ? block.rule.needs : [])),
  )
  for (const target of goals.filter((goal) => !phony.has(goal))) {
    const file = join(where.cwd, target)
    if (file !== undefined && following.files.paths.has(file))
      following.found.set(file, { role: 'shadow', part: 'whole' })
  }
  const visit = `${path}\0${plan.targets.join(' ')}`
  if (following.seen.has(visit)) return
  following.seen.add(visit)
  for (const line of plan.recipes) await followShell(following, recipeLine(line, variables), where)
}

async function readIncluded(
  following: Following,
  blocks: readonly Block[],
  { cwd }: Where,
): Promise<{ all: Block[]; included: string[] }> {
  const all = [...blocks]
  const included: string[] = []
  for (const block of all) {
    if (block.kind !== 'include') continue
    if (included.length > MOST_INCLUDED) following.isCut = true
    if (included.length > MOST_INCLUDED) break
    const paths = expandVariables(block.paths.join(' '), variablesIn(all)).split(/\s+/)
    for (const file of paths.flatMap((name) => filesNamed(following, cwd, name))) {
      if (included.includes(file)) continue
      included.push(file)
      all.push(...(parseMakefile((await following.files.read(file)) ?? '') ?? []))
    }
  }
  return { all, included }
}

const MOST_INCLUDED = 200

function filesNamed({ files }: Following, cwd: string, name: string): string[] {
  // A leading variable or function may be any folder; look for the rest from here.
  const path = join(cwd, name.replace(/^.*[)}]\//, '').replace(/\)+$/, ''))
  if (path === undefined) return []
  if (isGlob(name)) return [...files.paths].filter(pathMatcher(path))
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

/** Its recipes are not told apart: the whole file counts, and everything it runs. */
export async function followJust(following: Following, where: Where): Promise<void> {
  const names = ['justfile', 'Justfile', '.justfile'].map((name) => join(where.cwd, name) ?? '')
  const path = names.find((name) => following.files.paths.has(name))
  if (path === undefined) return
  const text = (await following.files.read(path)) ?? ''
  for (const [, line = ''] of text.matchAll(/^[ \t]+[@-]?(.*)$/gm)) await followShell(following, line, where)
}
