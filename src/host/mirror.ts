/**
 * Mirrors a folder of installed packages in another place: real folders with links in them. Nothing is ever written
 * through a link.
 */
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { pathBelow } from './files.ts'

/**
 * `open`: a real folder of entries; `copy`: one whose files are copied as well; `leave`: whatever is there is not ours.
 */
export type Way = 'open' | 'copy' | 'link' | 'leave'

export type Mirror = {
  /** The repository that contains the packages, and its other place. */
  from: string
  to: string
  /** How an entry gets there, by its path below the mirrored folder. */
  way: (path: string) => Way
  /** Rewrites paths below `from` in a text to paths below `to`. */
  translate: (text: string) => string
}

/** `path` is one of both places, `inner` the part of it below the mirrored folder. Its parent must exist. */
export function mirror(path: string, inner: string, { from, to, ...how }: Mirror): void {
  const source = join(from, path)
  const top = inner === '' ? source : source.slice(0, -inner.length - 1)
  const mirroring = { ...how, from, to, top }
  if (inner !== '') {
    bring(source, join(to, path), { ...mirroring, inner })
    return
  }
  const real = realpathSync(source) // the folder itself may be a link, its copy never is
  if (statSync(real).isDirectory()) bringFolder(real, join(to, path), { ...mirroring, top: real, inner })
}

type Bringing = Mirror & { top: string; inner: string }

function bring(source: string, target: string, bringing: Bringing): void {
  const way = bringing.way(bringing.inner)
  const stat = lstatSync(source, { throwIfNoEntry: false })
  if (way === 'leave' || !stat) return
  if (stat.isSymbolicLink()) putLink(target, leadingTo(source, bringing))
  else if (stat.isFile()) bringFile(source, target, { stat, way, translate: bringing.translate })
  else if (!stat.isDirectory()) return
  else if (way === 'link') putLink(target, source)
  else bringFolder(source, target, bringing)
}

type File = { stat: Stats; way: Way; translate: (text: string) => string }

/** Text is copied: installers edit their notes in place, and a script may name the repository. */
function bringFile(source: string, target: string, { stat, way, translate }: File): void {
  const known = lstatSync(target, { throwIfNoEntry: false })
  if (known?.isFile() && Math.abs(known.mtimeMs - stat.mtimeMs) < 1) return
  if (way !== 'copy' && (isLinkTo(target, source) || !isText(source, stat))) putLink(target, source)
  else putCopy(source, target, { stat, translate })
}

function bringFolder(source: string, target: string, bringing: Bringing): void {
  keepFolder(target)
  const names = readdirSync(source)
  const wanted = new Set(names)
  const innerOf = (name: string) => (bringing.inner === '' ? name : `${bringing.inner}/${name}`)
  for (const name of readdirSync(target))
    if (!wanted.has(name) && bringing.way(innerOf(name)) !== 'leave') remove(join(target, name))
  for (const name of names) bring(join(source, name), join(target, name), { ...bringing, inner: innerOf(name) })
}

/** A link into the repository, as workspaces have them, points to the other place's own copy. */
function leadingTo(source: string, { from, to, top }: Bringing): string {
  const text = readlinkSync(source)
  const end = resolve(dirname(source), text)
  const [inRepository, inFolder] = [pathBelow(from, end), pathBelow(top, end)]
  if (!isAbsolute(text) && (inRepository ?? inFolder) !== undefined) return text
  return inRepository === undefined ? end : join(to, inRepository)
}

function putLink(target: string, text: string): void {
  if (isLinkTo(target, text)) return
  remove(target)
  symlinkSync(text, target)
}

function isLinkTo(target: string, text: string): boolean {
  return lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(target) === text
}

function putCopy(source: string, target: string, { stat, translate }: Omit<File, 'way'>): void {
  remove(target)
  const text = isText(source, stat) ? readFileSync(source, 'utf8') : ''
  const there = translate(text)
  if (there === text) copyFileSync(source, target, constants.COPYFILE_FICLONE)
  else writeFileSync(target, there, { mode: stat.mode })
  utimesSync(target, stat.atimeMs / 1_000, stat.mtimeMs / 1_000)
}

const LARGEST_TEXT = 16 * 1024 * 1024

function isText(path: string, { size }: Stats): boolean {
  return size <= LARGEST_TEXT && !readFileSync(path).subarray(0, 8_192).includes(0)
}

function keepFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  remove(path)
  mkdirSync(path)
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true })
}
