/**
 * Links the installed dependencies of the person's tree into the place where ralph runs experiments. Only single
 * packages are links, so that a cache that a check writes next to them stays in the place. Build output and caches are
 * never linked.
 */
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isFolder } from './files.ts'
import { listPaths, type Repository, readable } from './git.ts'
import { mirror, type Way } from './mirror.ts'

/** `translate`: rewrites paths of the person's repository in a text to those in the place. */
export type Linking = { from: Repository; to: Repository; translate: (text: string) => string }

/** Brings the links up to date with what is installed now. What the tree in the place contains is left alone. */
export async function linkDependencies({ from, to, translate }: Linking): Promise<void> {
  const found = await findDependencies(from)
  const tracked = await filesBelow(
    to,
    found.map(({ path }) => path),
  )
  for (const { path, kind, inner } of found) {
    if (tracked.some((file) => `${file}/`.startsWith(`${path}/`))) continue
    if (!isRealFolder(to.top, dirname(path))) continue // a tree without this workspace
    mirror(path, inner, { from: from.top, to: to.top, way: WAYS[kind], translate })
  }
}

/** `inner`: its path below its folder of dependencies, of which a part is in git; empty if it is that folder. */
type Dependency = { path: string; kind: Kind; inner: string }

async function findDependencies(repo: Repository): Promise<Dependency[]> {
  const listed = await listPaths(repo, ['--others', '--ignored', '--exclude-standard', '--directory'])
  return (listed ?? []).flatMap((entry) => {
    const path = readable(entry).replace(/\/$/, '')
    const parts = path.split('/')
    const at = parts.findIndex(isKind)
    const kind = parts[at]
    return kind !== undefined && isKind(kind) ? [{ path, kind, inner: parts.slice(at + 1).join('/') }] : []
  })
}

async function filesBelow(repo: Repository, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const listed = await repo.list(['ls-files', '-z', '--', ...paths], { env: { GIT_LITERAL_PATHSPECS: '1' } })
  return (listed ?? []).map(readable)
}

/** A tree may have a link where another one has a folder, and it may point to the person's files. */
export function isRealFolder(top: string, path: string): boolean {
  const folder = join(top, path)
  return isFolder(folder) && realpathSync(folder) === folder
}

type Kind = keyof typeof WAYS

const WAYS = {
  node_modules: wayOfNode,
  '.venv': wayOfPython,
  venv: wayOfPython,
  vendor: wayOfVendor,
}

/** The names of folders with dependencies. */
export const INSTALLED: readonly string[] = Object.keys(WAYS)

function isKind(name: string): name is Kind {
  return Object.hasOwn(WAYS, name)
}

function wayOfNode(path: string): Way {
  if (/^(\.prisma|@prisma\/client)(\/|$)/.test(path)) return 'copy' // a check that generates the client writes there
  if (/^(\.bin|\.pnpm(\/node_modules(\/@[^/]+)?)?|@[^/]+)$/.test(path)) return 'open'
  if (/^\.(?!bin\/|pnpm\/)/.test(path)) return NOTES.has(path) ? 'link' : 'leave' // caches
  return 'link'
}

/** Records of installers about what they have installed. */
const NOTES = new Set(['.package-lock.json', '.modules.yaml', '.yarn-state.yml', '.yarn-integrity'])

/** Down to single packages: an editable install is a text with a path, which must point to the sources in the place. */
function wayOfPython(path: string): Way {
  if (/(^|\/)__pycache__$/.test(path)) return 'leave'
  return /^(bin|Scripts|[Ll]ib(64)?(\/python[^/]*)?(\/site-packages)?)$/.test(path) ? 'open' : 'link'
}

/** PHP's autoloader finds the project's sources relative to its own location. */
function wayOfVendor(path: string): Way {
  return /^(composer|bin)$/.test(path) ? 'open' : 'link'
}
