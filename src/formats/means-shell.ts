/** Follows a shell script: variables, loops, functions, lists of files, and folders added to PATH. */
import {
  type Following,
  followCommand,
  followScript,
  followSetting,
  hasStep,
  SHELLS,
  type Where,
} from './means-follow.ts'
import { filesFound, filesListed, globbed } from './means-lists.ts'
import { join } from './means-paths.ts'
import { isInterpreter } from './means-runners.ts'
import { leavesFiles } from './means-unclear.ts'
import { ASSIGNS, readShellArgs, wrapped } from './means-wrappers.ts'
import { parseShell, type ShellCommand } from './shell-text.ts'

/** A variable may have had several values over time. */
type Scope = {
  variables: Map<string, readonly string[]>
  cwd: string
  /** Other possible working directories: a `cd` in a loop changes with every pass. */
  others: readonly string[]
  /** What was assigned to variables so far, in all passes of the surrounding loops. */
  gathered: Map<string, string[]>
  /** What the last `$()` stands for: the files that it lists, the folder that it prints. */
  listed: readonly string[]
  printed: string | undefined
  depth: number
}

/** `given`: the arguments of the script, `$1` first; undefined: unknown. */
export async function followShell(
  following: Following,
  text: string,
  where: Where,
  given?: readonly string[],
): Promise<void> {
  const commands = parseShell(text)
  const bodies = new Map<string, ShellCommand[]>()
  for (const command of commands)
    if (command.inside !== undefined) bodies.set(command.inside, [...(bodies.get(command.inside) ?? []), command])
  for (const [name, body] of bodies) following.functions.set(name, body)
  const variables = new Map(given ? positional(given) : [])
  const nothing = { others: [], gathered: new Map(), listed: [], printed: undefined }
  await followAll(following, commands, where, { ...nothing, variables, cwd: where.cwd, depth: 0 })
}

function positional(given: readonly string[]): [string, readonly string[]][] {
  return [['@', given], ...given.slice(0, 9).map((word, at): [string, string[]] => [`${at + 1}`, [word]])]
}

async function followAll(
  following: Following,
  commands: readonly ShellCommand[],
  where: Where,
  scope: Scope,
): Promise<void> {
  let before: ShellCommand | undefined
  const inner = { ...scope } // a `cd` between `$(` and `)` ends there
  for (const command of commands) {
    const captured = where.captured || command.captured
    const own = command.captured ? inner : scope
    const turns = inTurns(own)
    for (const words of variants(following, command.words, scope.variables)) {
      if (!hasStep(following)) return
      turns.next()
      const here = { ...where, cwd: own.cwd, captured }
      for (const word of words) await followSetting(following, word, here)
      if (!takeWord(following, words, own, where)) {
        for (const cwd of own.others) await followOne(following, words, { ...here, cwd }, { ...own, cwd, others: [] })
        await followOne(following, words, here, own)
      }
      if (command.captured) scope.printed = printedBy(words, own, where)
      if (isFedProgram(words))
        for (const word of fedBy(command, before))
          for (const [script = ''] of variants(following, [word], scope.variables))
            await followScript(following, script, { ...here, captured: false })
    }
    turns.end(following)
    before = command
    if (command.captured) scope.listed = inner.listed
    else Object.assign(inner, scope)
  }
}

/** Every pass of a loop starts with the same folder and list; the results of all passes are merged. */
function inTurns(scope: Scope): { next(): void; end(following: Following): void } {
  const { cwd, others, listed } = scope
  const folders = new Set<string>()
  const lists = new Set<readonly string[]>()
  const note = () => {
    folders.add(scope.cwd)
    lists.add(scope.listed)
  }
  let turn = 0
  scope.gathered = new Map()
  return {
    next() {
      if (turn++ === 0) return
      note()
      Object.assign(scope, { cwd, listed })
    },
    end(following) {
      if (turn < 2) return
      note()
      if (lists.size > 1) scope.listed = [...new Set([...lists].flat())]
      const more = [...folders].filter((folder) => folder !== scope.cwd)
      if (more.length > MOST_FOLDERS) following.isCut = true
      scope.others = more.length > 0 ? more.slice(0, MOST_FOLDERS) : others
    },
  }
}

const MOST_FOLDERS = 300

/** The folder that a command prints, as far as it is known. */
function printedBy([name, second]: readonly string[], { cwd }: Scope, { beside }: Where): string | undefined {
  if (name === 'dirname') return beside
  if (name === 'pwd') return cwd
  return name === 'git' && second === 'rev-parse' ? '' : undefined
}

/** Handles builtins that only change state; false: it is a command. */
function takeWord(following: Following, words: readonly string[], scope: Scope, { beside }: Where): boolean {
  const [first = '', second = ''] = words
  const { variables, listed } = scope
  if (first === 'for') {
    const values = words.slice(3).flatMap((word) => word.split(/\s+/))
    const inTurn = values.length > 0 ? values : (variables.get('@') ?? [])
    const folders = [scope.cwd, ...scope.others]
    const filesOf = (word: string) => folders.flatMap((folder) => globbed(following, word, folder))
    gather(
      scope,
      second,
      inTurn.flatMap((word) => (word === '$()' ? listed : filesOf(word))),
    )
    return true
  }
  if (first === 'read') gather(scope, words.at(-1) ?? '', listed)
  if (first === 'shift') {
    const rest = (variables.get('@') ?? []).slice(Number(second || 1))
    for (const name of '123456789') variables.delete(name)
    for (const [name, value] of positional(rest)) variables.set(name, value)
  }
  if (first === 'cd') {
    scope.others = scope.others.map((cwd) => folderMeant(second, { ...scope, cwd }, beside))
    scope.cwd = folderMeant(second, scope, beside)
  }
  const isDeclared = /^(export|local|declare|readonly|typeset)$/.test(first)
  for (const word of isDeclared ? words.slice(1) : words) {
    const [, name, value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(word) ?? []
    if (name === undefined) break
    gather(scope, name, value === '$()' && listed.length > 0 ? listed : [value])
    if (name === 'PATH') notePath(following, value)
  }
  return isDeclared || /^(read|shift|cd)$/.test(first)
}

function gather({ variables, gathered }: Scope, name: string, values: readonly string[]): void {
  const all = gathered.get(name) ?? []
  for (const value of values) all.push(value)
  gathered.set(name, all)
  variables.set(name, all)
}

/** A folder in an unknown variable could be anything, but most scripts change to where they already are. */
function folderMeant(word: string, { cwd, printed }: Scope, beside: string): string {
  const [, known, rest = ''] = /^(\$\(\)|\$\{0%\/\*\})(.*)$/s.exec(word) ?? []
  if (known !== undefined) return join(known === '$()' ? (printed ?? cwd) : beside, rest) ?? cwd
  return word.includes('$') ? cwd : (join(cwd, word) ?? cwd)
}

export function notePath({ path }: Pick<Following, 'path'>, value: string): void {
  for (const folder of value.split(':'))
    if (/[^$\w{}/].*\w|\/\w|^\w+$/.test(folder) && !path.includes(folder)) path.push(folder)
}

async function followOne(following: Following, words: readonly string[], where: Where, scope: Scope): Promise<void> {
  const [name = '', ...args] = words
  const body = following.functions.get(name)
  if (body && scope.depth < DEEPEST) {
    const variables = new Map([...scope.variables, ...positional(args)])
    return followAll(following, body, where, { ...scope, variables, depth: scope.depth + 1 })
  }
  const found = name === 'find' ? filesFound(following, args, scope.cwd) : filesListed(following, words, scope.cwd)
  if (found) scope.listed = found
  else if (!FILTERS.test(name) && !/^(xargs|parallel)$/.test(name))
    scope.listed = ASSIGNS.test(name) ? scope.listed : []
  if (!/^(xargs|parallel)$/.test(name) || scope.listed.length === 0) return followCommand(following, words, where)
  if (leavesFiles(wrapped(following, name, args, where)?.[0] ?? '')) return
  for (const file of scope.listed) {
    const hasPlace = words.some((word) => word.includes('{}'))
    const filled = hasPlace ? words.map((word) => word.replaceAll('{}', file)) : [...words, file]
    await followCommand(following, filled, where)
  }
}

const DEEPEST = 5
const FILTERS = /^(sort|uniq|head|tail|grep|egrep|sed|awk|tr|cut|shuf|tac|tee|cat|read)$/

/** A shell or interpreter that reads its program from stdin. */
function isFedProgram([name = '', ...args]: readonly string[]): boolean {
  if (SHELLS.test(name)) return readShellArgs(args) === undefined && !args.includes('-n')
  return isInterpreter(name) && args.every((word) => word === '-')
}

function fedBy({ input, piped }: ShellCommand, before: ShellCommand | undefined): string[] {
  if (input !== undefined) return [input]
  if (!piped || !before) return []
  return [...before.words.slice(1), ...(before.input === undefined ? [] : [before.input])]
}

/** Expands known variables; one with several values gives several commands. */
function variants(
  following: Following,
  words: readonly string[],
  variables: ReadonlyMap<string, readonly string[]>,
  most = MOST_VALUES,
): string[][] {
  const spread = words.flatMap((word) => {
    const all = /^\$([@*]|\{[@*]\})$/.test(word) ? variables.get('@') : undefined
    return all ?? [word]
  })
  const many = namesIn(spread).find((name) => (variables.get(name)?.length ?? 0) > 1)
  if (many === undefined) return [spread.map((word) => expand(word, variables))]
  const values = variables.get(many) ?? []
  if (values.length > most && !leavesFiles(words[0] ?? '')) following.isCut = true
  const each = Math.max(1, Math.floor(most / values.length))
  return values
    .slice(0, most)
    .flatMap((value) => variants(following, spread, new Map([...variables, [many, [value]]]), each))
}

const MOST_VALUES = 5000
const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g

function namesIn(words: readonly string[]): string[] {
  return words.flatMap((word) => [...word.matchAll(VARIABLE)].map(([, plain, braced]) => plain ?? braced ?? ''))
}

function expand(word: string, variables: ReadonlyMap<string, readonly string[]>): string {
  return word.replace(VARIABLE, (whole, plain, braced) => variables.get(plain ?? braced)?.[0] ?? whole)
}
