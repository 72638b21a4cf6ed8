/** What a check's script in a language other than shell runs in turn: commands it starts, helpers next to it. */
import { type Following, followCommand, followFile, type Where } from './means-follow.ts'
import { TOOLS } from './means-names.ts'
import { folderOf, join } from './means-paths.ts'
import { roleOf } from './means-role.ts'
import { followShell } from './means-shell.ts'

const STARTS =
  /\b(spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|execa|execaSync|run|call|check_call|check_output|Popen|system|popen|sh)\s*\(([^()]{1,400})\)|\$`([^`]{1,400})`/g

export async function followCode(
  following: Following,
  { path, text }: { path: string; text: string },
  where: Where,
): Promise<void> {
  for (const tool of TOOLS) if (new RegExp(`(^|[^\\w-])${tool}([^\\w-]|$)`).test(text)) following.tools.add(tool)
  for (const { 1: start = '', 2: args = '', 3: template, index } of text.matchAll(STARTS)) {
    const words = template === undefined ? literals(args) : [template]
    const captured = where.captured || isLookedAt(start, args, text, index)
    if (words.length === 1) await followShell(following, words[0] ?? '', { ...where, captured })
    else await followCommand(following, words, { ...where, captured })
  }
  for (const name of imports(path, text)) {
    const helper = candidates(path, name).find((file) => following.files.paths.has(file))
    if (helper) await followImport(following, helper, where)
  }
}

/** Whether code uses the output of a program it starts: the call is used as a value, and that value is the output. */
function isLookedAt(start: string, args: string, text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 80), index).replace(/(?:\bawait\s+)?(?:[\w$.]+\.)?$/, '')
  if (!/[=(,[!:+]\s*$|\b(?:return|in|not)\s+$/.test(before)) return false
  if (/^(execSync|execFileSync|check_output|popen|execa|execaSync)$/.test(start)) return !/inherit/.test(args)
  return /capture_output|stdout|PIPE/.test(args) || (start === 'spawnSync' && /\bstdout\b/.test(text))
}

/** An import is the program under test, unless its place, name or text says that it judges. */
async function followImport(following: Following, helper: string, where: Where): Promise<void> {
  const role = roleOf(helper, { ...where, depth: 1, captured: false })
  if (role === 'means') return followFile(following, helper, where)
  if (role === 'unclear' && (HELPER.test(helper) || EXITS.test((await following.files.read(helper)) ?? '')))
    following.unclear.files.add(helper)
}

const HELPER =
  /(^|\/)(helpers?|support|asserts?|assertions?|matchers?|expectations?|testing|harness|same|equals?|eq)(\/|\.\w+$)/i
const EXITS = /\b(?:sys\.exit|os\._exit|process\.exit|process\.exitCode|AssertionError|Kernel\.exit)\b/

function literals(code: string): string[] {
  return [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  )
}

/** Module names; `from a import b` also gives `a.b`, which may be one. */
function imports(path: string, text: string): string[] {
  if (path.endsWith('.py'))
    return [
      ...text.matchAll(/^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+\(?([\w*, \t]+)|import[ \t]+([\w., \t]+))/gm),
    ].flatMap(([, from, names = '', plain = '']) => {
      if (from === undefined) return namesIn(plain)
      const inside = namesIn(names).map((name) => (from.endsWith('.') ? `${from}${name}` : `${from}.${name}`))
      return [from, ...inside]
    })
  return [...text.matchAll(/(?:\bfrom|\bimport|\brequire(?:_relative)?)\s*\(?\s*['"](\.[^'"\n]+)['"]/g)].map(
    ([, name = '']) => name,
  )
}

function namesIn(list: string): string[] {
  return list.split(',').flatMap((name) => /^\s*([\w.]+)/.exec(name)?.[1] ?? [])
}

function candidates(path: string, name: string): string[] {
  const folder = folderOf(path)
  const isPython = path.endsWith('.py')
  const [, dots = '', module = ''] = /^(\.*)(.*)$/.exec(name) ?? []
  const plain = isPython ? `${'../'.repeat(Math.max(0, dots.length - 1))}${module.replaceAll('.', '/')}` : name
  const base = join(folder, plain)
  if (base === undefined) return []
  if (isPython) return [`${base}.py`, `${base}/__init__.py`]
  const bare = base.replace(/\.[cm]?js$/, '')
  return [base, ...['.js', '.mjs', '.cjs', '.ts', '.mts', '.rb', '/index.js', '/index.ts'].map((end) => bare + end)]
}
