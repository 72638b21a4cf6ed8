/**
 * The place where ralph runs experiments: its own linked worktree that shows one tree object after another. Nothing of
 * the person's is written, neither in their files nor through a link.
 */
import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { parseCommandLine, printCommandLine } from '../formats/command-line.ts'
import { type CheckPlace, runCheck } from './check.ts'
import { isFolder, pathBelow, realFolder } from './files.ts'
import { inOneLine, type Repository } from './git.ts'
import { codeOf } from './plain-words.ts'
import { noSpace, showTree } from './proof-files.ts'
import { INSTALLED, isRealFolder, linkDependencies } from './proof-links.ts'
import { ensureLinked, readIfThere, removeLinked, type Spot, treeOf, whyTooOld } from './proof-tree.ts'
import type { Fence } from './sandbox.ts'
import { openTranslator } from './translate-paths.ts'
import { copyOver } from './worktree.ts'

export type ProofPlace = {
  /** The top of the repository in the place. */
  top: string
  /**
   * Checks out this tree object there, and returns the folder where checks run. What a check left that git ignores,
   * such as build output, stays, unless everything must be `fresh`. `minutes`: how long the setup may take.
   */
  show(tree: string, how?: { fresh?: boolean; minutes?: number }): Promise<{ dir: string } | { cannot: string }>
  /** A check's command line for the place: absolute paths below the person's repository point into the place. */
  translate(check: string): string
  /** What a check needs in its environment there, besides its own. */
  env: Record<string, string>
  remove(): Promise<void>
}

export type ProofOptions = {
  repo: Repository
  home: string
  loop: string
  /** The folder of the loop, in the repository. */
  dir: string
  /** Files outside git that are copied to the place, below `dir`. */
  copied?: readonly string[]
  /**
   * Sets up the place instead of links to what is installed: once, or if it also builds, for every tree. It is run
   * without a shell.
   */
  setup?: string
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
  /** The setup runs inside this sandbox. */
  fence?: Fence | undefined
}

/** Reuses the place that an earlier ralph left, or creates one. `cannot` is one sentence for a person. */
export async function openProofPlace(options: ProofOptions): Promise<ProofPlace | { cannot: string }> {
  return orCannot(async () => {
    const { repo, dir, env, signal } = options
    const spot = { home: realFolder(options.home), loop: options.loop }
    const below = belowTop(repo, dir)
    const old = (await whyTooOld(repo.top)) ?? (await whyNotWhole(repo))
    if (old !== undefined) return { cannot: old }
    await ensureLinked(repo, spot, signal)
    const names = [
      repo.top,
      ...(dir.endsWith(`/${below}`) ? [dir.slice(0, -below.length - 1)] : below === '' ? [dir] : []),
    ]
    const translate = openTranslator({ from: names, to: treeOf(spot), except: spot.home })
    const linked = options.setup === undefined ? NOT_INSTALLING : {}
    const there = { ...translated(env, translate), ...linked, PYTHONDONTWRITEBYTECODE: '1' }
    return {
      top: treeOf(spot),
      env: there,
      translate: (check) => translateCommand(check, translate),
      show: (tree, { fresh = false, minutes = SETUP_MINUTES } = {}) =>
        orCannot(() => show({ ...options, env: { ...env, ...there }, spot, below, translate, tree, fresh, minutes })),
      remove: () => removeLinked(spot),
    }
  })
}

/** Packages are links to what the person has installed: a check must not install others on the way. */
const NOT_INSTALLING = { PIP_DRY_RUN: '1', UV_NO_SYNC: '1', pnpm_config_verify_deps_before_run: 'false' }

/** Empty: the loop works at the top. */
function belowTop({ top }: Repository, dir: string): string {
  const real = realFolder(dir)
  if (real === top) return ''
  const below = pathBelow(top, real)
  if (below === undefined) throw new RalphError('git-failed', `${dir} is not in the repository ${top}.`)
  return below
}

/** The place gets all files, because an agent could hide some; in a partial clone that would fetch them all. */
async function whyNotWhole(repo: Repository): Promise<string | undefined> {
  const sparse = await repo.ask(['config', '--type=bool', '--get', 'core.sparseCheckout'])
  if (!sparse.ok || sparse.out !== 'true') return undefined
  const partial = await repo.ask(['config', '--get-regexp', '^(extensions\\.partialclone|remote\\..*\\.promisor)$'])
  if (!partial.ok) return undefined
  return `${repo.top} is a sparse checkout of a partial clone: its other files would have to be fetched first.`
}

type Env = ProofOptions['env']

/** Variables that name the person's repository, such as the PATH of an activated virtual environment. */
function translated(env: Env, translate: (text: string) => string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value = '']) => {
      const there = translate(value)
      return there === value || name.startsWith('RALPH_') ? [] : [[name, there]]
    }),
  )
}

function translateCommand(check: string, translate: (text: string) => string): string {
  const words = parseCommandLine(check)
  const there = words.map(translate)
  return there.some((word, at) => word !== words[at]) ? printCommandLine(there) : check
}

type Show = ProofOptions & {
  spot: Spot
  below: string
  translate: (text: string) => string
  tree: string
  fresh: boolean
  minutes: number
}

async function show(asked: Show): Promise<{ dir: string } | { cannot: string }> {
  const { repo, spot, below, setup, translate, signal, tree, fresh, minutes, fence } = asked
  if (!(await repo.ask(['cat-file', '-e', `${tree}^{tree}`])).ok)
    return { cannot: `The repository ${repo.top} no longer has the files of tree ${tree}.` }
  const place = await ensureLinked(repo, spot, signal)
  const note = join(place.gitDir, 'ralph-set-up') // it is removed with the worktree
  if (fresh) rmSync(note, { force: true })
  const bring = async (again: boolean) => {
    await showTree(place, tree, { loop: spot.loop, kept: setup ? INSTALLED : [], fresh: again && fresh, signal })
    makeFolder(place.top, below)
    await copyIn(asked, place)
  }
  await bring(true)
  const dir = join(place.top, below)
  if (setup === undefined) await linkDependencies({ from: repo, to: place, translate })
  else if (![setup, `${setup}\n${tree}`].includes(readIfThere(note) ?? '')) {
    const failed = await setUp(setup, { dir, env: asked.env, signal, minutes, fence, online: true, home: spot.home })
    if (failed !== undefined) return { cannot: failed }
    await bring(false) // installers tend to change files that are in git
    writeFileSync(note, (await hasOnlyPackages(asked, place)) ? setup : `${setup}\n${tree}`)
  }
  return { dir }
}

/** Installed packages fit every tree; build output fits only the tree it was built from. */
async function hasOnlyPackages({ below, copied = [] }: Show, place: Repository): Promise<boolean> {
  const how = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
  const left = await place.list(how)
  const mayStay = (path: string) =>
    INSTALLED.includes(basename(path)) || copied.some((name) => join(below, name) === path)
  return left?.every(mayStay) ?? false
}

/** Returns why it failed. */
async function setUp(setup: string, place: CheckPlace): Promise<string | undefined> {
  const verdict = await runCheck(setup, place)
  if (verdict?.result === 'pass') return undefined
  if (verdict?.result === 'timeout') return `proof_setup (${setup}) took longer than the time allowed for experiments.`
  const last = verdict?.tail.trim().split('\n').at(-1)
  return verdict ? `proof_setup (${setup}) failed: ${inOneLine(last ?? '')}` : 'proof_setup was interrupted.'
}

const SETUP_MINUTES = 30

/** A tree may be older than the folder of the loop. What is in the way there may point out of the place. */
function makeFolder(top: string, below: string): void {
  if (below === '') return
  mustStayInside(top, below)
  mkdirSync(join(top, below), { recursive: true })
}

function mustStayInside(top: string, below: string): void {
  for (let path = below; path !== '.'; path = dirname(path))
    if (lstatSync(join(top, path), { throwIfNoEntry: false })) {
      if (isRealFolder(top, path)) return
      throw new RalphError('git-failed', `${path} is not a folder in the tree under test.`)
    }
}

/** Single files are copied each time, since a check may have written to its copy. Files in git are not copied. */
async function copyIn({ dir, below, copied = [] }: Show, place: Repository): Promise<void> {
  for (const name of copied) {
    const path = join(below, name)
    const tracked = await place.list(['ls-files', '-z', '--', path], { env: { GIT_LITERAL_PATHSPECS: '1' } })
    if (tracked?.length !== 0) continue
    mustStayInside(place.top, dirname(path))
    if (!isFolder(join(place.top, path))) rmSync(join(place.top, path), { force: true })
    copyOver(realFolder(dir), join(place.top, below), name)
  }
}

async function orCannot<Result>(work: () => Promise<Result>): Promise<Result | { cannot: string }> {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT') return { cannot: noSpace(cause).message }
    if (cause instanceof RalphError) return { cannot: cause.message }
    if (cause instanceof Error && 'syscall' in cause)
      // of the file system
      return { cannot: `The worktree for experiments cannot be created: ${inOneLine(cause.message)}` }
    throw cause
  }
}
