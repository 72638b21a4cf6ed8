/** What agents find in ralph's home: the gate of the hooks, and links to the program, the package and Node. */
import { lstatSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { makePrivateFolder, writeWhole } from '../host/files.ts'
import { inPlainWords } from '../host/plain-words.ts'

export type Links = { home: string; root: string; node: string }

/** Keeps the paths in the agents' settings valid however often ralph and Node are replaced. True if something was stale. */
export function makeLinks({ home, root, node }: Links): boolean {
  makePrivateFolder(home)
  // What was missing is now installed; if it goes missing again, say so again.
  for (const said of ['hook-missing', 'node-too-old']) rmSync(join(home, said), { force: true })
  const gate = readFileSync(join(root, 'plugins', 'claude', 'hook.sh'), 'utf8')
  const stale = textAt(join(home, 'hook.sh')) !== gate
  if (stale) writeWhole(join(home, 'hook.sh'), gate, 0o755)
  const linked = Object.entries(targets(root, node)).map(([name, target]) => link(join(home, name), target))
  return stale || linked.includes(true)
}

/** Only what `makeLinks` creates. */
export function removeLinks(home: string): void {
  for (const name of ['hook.sh', ...Object.keys(targets('', ''))]) rmSync(join(home, name), { force: true })
}

function targets(root: string, node: string): Record<string, string> {
  return { node, 'hook.cjs': join(root, 'dist', 'hook.cjs'), package: root }
}

function link(path: string, target: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat && !stat.isSymbolicLink())
    throw new RalphError('home-unusable', `${path} must be a link created by ralph. Move or rename it, then try again.`)
  if (stat && readlinkSync(path) === target) return false
  const temporary = `${path}.new` // the same for every process: only one runs here at a time
  try {
    rmSync(temporary, { force: true })
    symlinkSync(target, temporary)
    renameSync(temporary, path)
    return true
  } catch (cause) {
    throw inPlainWords(cause, path)
  }
}

function textAt(path: string): string | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : undefined
}
