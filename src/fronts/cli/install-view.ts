/** Shows what `ralph install` is about to write as a diff, and asks for confirmation. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { RalphError } from '../../error.ts'
import { printDiff } from '../../formats/unified-diff.ts'
import { pathBelow } from '../../host/files.ts'
import { targetOf } from '../../host/person-file.ts'
import type { Site } from '../../install/pieces.ts'
import type { Edit } from '../../install/plan.ts'
import { type Args, usage } from './args.ts'
import type { Context } from './context.ts'
import { count, paint } from './text.ts'

/** ralph's own files are only named; changes to the user's files are shown in full. */
export function show({ out, cwd, env }: Context, changes: readonly Edit[]): void {
  const site = { person: env.HOME || homedir(), project: cwd }
  for (const { path, now, next, kind } of changes) {
    const target = targetOf(path)
    const name = nameOf(path, site) + (isLinked(path, target, site) ? ` → ${target}` : '')
    const lines = kind === 'own' && !(now && next) ? [] : printDiff(now?.toString() ?? '', next?.toString() ?? '')
    const what = now ? (next ? '' : ' (removed)') : ' (new)'
    const size = lines.length === 0 && next ? `, ${count(next.toString().split('\n').length - 1, 'line')}` : ''
    out.write(`${paint(out, 'bold', name)}${what.replace(')', `${size})`)}\n`)
    for (const line of lines) out.write(`${paintLine(out, line)}\n`)
  }
  if (changes.length > 0) out.write('\n')
}

/** Also true if only a parent folder is a link: the user must see where a file is really written. */
function isLinked(path: string, target: string, { person, project }: Pick<Site, 'person' | 'project'>): boolean {
  const base = pathBelow(project, path) === undefined ? person : project
  const way = pathBelow(base, path)
  return way === undefined ? target !== path : target !== join(targetOf(base), way)
}

function paintLine(out: Context['out'], line: string): string {
  const styles = { '+': 'green', '-': 'red', '@': 'cyan' } as const
  const style = styles[line[0] as keyof typeof styles]
  return style ? paint(out, style, line) : line
}

export function nameOf(path: string, { person, project }: Pick<Site, 'person' | 'project'>): string {
  const below = pathBelow(project, path)
  if (below !== undefined) return below
  const home = pathBelow(person, path)
  return home === undefined ? path : `~/${home}`
}

export async function confirm(args: Args, { out, machine: { stdin, stdout } }: Context): Promise<void> {
  if (args.flag('yes')) return
  if (!stdin.isTTY || !stdout.isTTY)
    throw usage(
      args.spec,
      'Nothing was written: without a terminal, ralph cannot ask for confirmation. Use --yes to write anyway.',
    )
  const lines = createInterface({ input: stdin, output: stdout })
  const answer = await new Promise<string>((answered) => {
    lines.once('close', () => answered(''))
    lines.question('Apply these changes? [y/N] ', answered)
  })
  lines.close()
  if (/^y(es)?$/i.test(answer.trim())) return
  out.write('\n')
  throw new RalphError('declined', 'Nothing was written.')
}
