/** The sockets of services that a sandbox hides: by location, by name, and wherever else a program is listening now. */
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { SERVICES } from '../formats/services.ts'
import { pathBelow } from './files.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type Hiding = {
  /** Paths that are let in, which may be in a folder that another one replaces. */
  shown: string[]
  /** Sockets, keys and folders of sockets that would be visible otherwise. */
  hidden: string[]
  /** Variables that point to what is hidden. */
  variables: string[]
}

/** `home`: of the person. `allowed`: names of services. `own`: folders in which everything stays as it is. */
export type Wanted = { env: Environment; home: string; allowed: readonly string[]; own: readonly string[] }

export function hideServices({ env, home, allowed, own }: Wanted): Hiding {
  const isAllowed = (name: string) => allowed.includes(name)
  const paths = (wanted: (name: string) => boolean) =>
    Object.entries(SERVICES).flatMap(([name, { paths, variables }]) =>
      wanted(name)
        ? [...paths.flatMap((path) => spellOut(path, env, home)), ...variables.flatMap((one) => pathIn(env[one]))]
        : [],
    )
  const shown = there(paths(isAllowed))
  const known = there(paths((name) => !isAllowed(name)))
  const isFree = (path: string) => [...shown, ...own, ...LOOKUPS].some((free) => isBelow(path, free))
  const isInKnown = (path: string) => known.some((one) => one !== path && isBelow(path, one))
  const found = [...new Set([...known, ...listening(env, home)])]
  const hidden = found.filter((path) => !isFree(path) && !isInKnown(path))
  const leads = Object.values(SERVICES).flatMap(({ variables }) => variables)
  const kept = new Set(allowed.flatMap((name) => SERVICES[name]?.variables ?? []))
  const runtime = env.XDG_RUNTIME_DIR
  if (runtime && shown.some((path) => isBelow(path, runtime))) kept.add('XDG_RUNTIME_DIR')
  const variables = Object.keys(env).filter(
    (name) =>
      !kept.has(name) && (leads.includes(name) || name === 'XDG_RUNTIME_DIR' || pathIn(env[name]).some(isSocketHidden)),
  )
  return { shown, hidden, variables }

  function isSocketHidden(path: string): boolean {
    return isSocket(path) && !isFree(path)
  }
}

/** Looks up users and hosts; nothing can be done through it. */
const LOOKUPS = ['/run/nscd', '/var/lib/sss/pipes/nss']

function spellOut(path: string, env: Environment, home: string): string[] {
  let isKnown = true
  const spelt = path.replace(/^~(?=\/)/, home).replace(/\$(\w+)/g, (_, name: string) => {
    isKnown &&= Boolean(env[name])
    return env[name] ?? ''
  })
  return isKnown && isAbsolute(spelt) ? [spelt] : []
}

/**
 * The path in a value such as `unix:///run/docker.sock`, `unix:path=/run/user/1000/bus,guid=…` or
 * `/tmp/tmux-1000/default,8,0`.
 */
function pathIn(value = ''): string[] {
  const [, path] = /^(?:unix:(?:\/\/)?(?:path=)?)?(\/[^,;]+)/.exec(value) ?? []
  return path === undefined ? [] : [path.replace(/:\d+:\d+$/, '')]
}

/** By their real paths, if they exist. */
function there(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => real(path) ?? []))]
}

function real(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined // it does not exist
  }
}

/** Folders in which programs rename sockets after binding them, or whose sockets may be listed as relative paths. */
const USUAL = ['~/.ssh', '~/.gnupg']

/**
 * Every socket that can be found: the kernel lists the paths they were bound to, and the renamed ones are next to
 * those.
 */
function listening(env: Environment, home: string): string[] {
  const bound = readBound()
  const folders = new Set([
    ...bound.map((path) => dirname(path)),
    ...USUAL.flatMap((path) => spellOut(path, env, home)),
  ])
  return there([...bound.filter(isSocket), ...[...folders].flatMap(socketsIn)])
}

function readBound(): string[] {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n')
    return lines.flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? [])
  } catch {
    return [] // not on this system
  }
}

function socketsIn(folder: string): string[] {
  let entries: Dirent[]
  try {
    entries = readdirSync(folder, { withFileTypes: true })
  } catch {
    return [] // missing, or not listable
  }
  return entries.filter((entry) => entry.isSocket()).map((entry) => join(folder, entry.name))
}

function isSocket(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false
  } catch {
    return false // not visible
  }
}

/** Whether a path is that folder or is in it. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || pathBelow(folder, path) !== undefined
}
