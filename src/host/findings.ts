/** What happened to the means of proof, read from git. */
import { readFindings, runsScripts } from '../formats/findings.ts'
import { git } from './git.ts'

/** Between two states of the work tree, with paths as seen from `dir`. Nothing where one of them is none of git's. */
export async function findFindings(
  dir: string,
  from: string | undefined,
  to: string | undefined,
  checks: readonly string[],
): Promise<string[]> {
  const [before, after] = [treeIn(from), treeIn(to)]
  if (!before || !after || before === after) return []
  const range = ['--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', '--relative', before, after]
  const [names, lines] = await Promise.all([
    git(dir, ['diff', '--name-status', '-z', ...range]),
    git(dir, ['diff', '--unified=0', '--diff-filter=AMT', ...range]),
  ])
  const fields = names?.split('\0') ?? []
  const files = fields.flatMap((status, at) =>
    at % 2 === 0 && fields[at + 1] ? [{ status: status.slice(0, 1), path: fields[at + 1] ?? '' }] : [],
  )
  const scripted = runsScripts(checks) && files.some(({ path }) => path === 'package.json')
  const text = async (tree: string) => (await git(dir, ['show', `${tree}:./package.json`])) ?? ''
  const manifest = scripted ? { manifest: { before: await text(before), after: await text(after) } } : {}
  return readFindings({ files, added: addedLines(lines ?? ''), ...manifest }, checks)
}

function treeIn(state: string | undefined): string | undefined {
  return /^([0-9a-f]{40,64}) /.exec(state ?? '')?.[1]
}

function addedLines(diff: string): Map<string, string[]> {
  const added = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1]
    if (file !== undefined) {
      lines = []
      added.set(file, lines)
    } else if (line.startsWith('+')) lines.push(line.slice(1))
  }
  return added
}
