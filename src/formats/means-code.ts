/** What a check's script in a language other than the shell's runs in turn: commands it starts, helpers beside it. */
import {
  type Following,
  folderOf,
  followCommand,
  followFile,
  followShell,
  isWork,
  join,
  type Where,
} from './means-follow.ts'
import { TOOLS } from './means-names.ts'

const STARTS =
  /\b(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|fork|execa|execaSync|run|call|check_call|check_output|Popen|system|popen|sh)\s*\(([^()]{1,400})\)|\$`([^`]{1,400})`/g

export async function followCode(
  following: Following,
  { path, text }: { path: string; text: string },
  where: Where,
): Promise<void> {
  for (const tool of TOOLS) if (new RegExp(`(^|[^\\w-])${tool}([^\\w-]|$)`).test(text)) following.tools.add(tool)
  for (const [, args, template] of text.matchAll(STARTS)) {
    const words = template === undefined ? literals(args ?? '') : [template]
    if (words.length === 1) await followShell(following, words[0] ?? '', where)
    else await followCommand(following, words, where)
  }
  for (const name of imports(path, text)) {
    const helper = candidates(path, name).find((file) => following.files.paths.has(file))
    // What it imports from elsewhere is the program it looks at.
    if (helper && !isWork(helper, { ...where, depth: 1, captured: false })) await followFile(following, helper, where)
  }
}

function literals(code: string): string[] {
  return [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  )
}

function imports(path: string, text: string): string[] {
  if (path.endsWith('.py'))
    return [...text.matchAll(/^[ \t]*(?:from[ \t]+(\.?[\w.]+)[ \t]+import|import[ \t]+([\w.]+))/gm)].map(
      ([, from, plain]) => from ?? plain ?? '',
    )
  return [...text.matchAll(/(?:\bfrom|\bimport|\brequire(?:_relative)?)\s*\(?\s*['"](\.[^'"\n]+)['"]/g)].map(
    ([, name = '']) => name,
  )
}

function candidates(path: string, name: string): string[] {
  const folder = folderOf(path)
  const plain = path.endsWith('.py') ? `${name.replace(/^\./, '').replaceAll('.', '/')}.py` : name
  const base = join(folder, plain)
  if (base === undefined) return []
  const bare = base.replace(/\.[cm]?js$/, '')
  return [base, ...['.js', '.mjs', '.cjs', '.ts', '.mts', '.rb', '/index.js', '/index.ts'].map((end) => bare + end)]
}
