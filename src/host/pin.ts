/**
 * What a loop holds on to of its repository: its location and its configuration, as both were before any agent worked
 * there. They are in ralph's own folder, and ralph's own git uses them, whatever is found in the worktree since.
 */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFolder, makePrivateFolder, pathBelow, readIfThere, realFolder, writeWhole } from './files.ts'
import { findSite, openSite, type Repository } from './git.ts'
import type { Site } from './git-site.ts'
import { type Links, readLinks, repairLinks } from './pin-links.ts'
import { describeChanges, pinSettings, readSettings, type Settings, settingsStamp } from './pin-settings.ts'

export type Pin = {
  repo: Repository
  /**
   * After a turn: repairs the files that point to the repository, and reports that and changed settings in sentences.
   */
  look(): Promise<string[]>
  /** The first half of that, at any time. */
  repair(): string[]
  /** What turns have changed in configuration and hooks, and nobody since, in sentences. */
  changes(): Promise<string[]>
}

/** `folder` is where it is kept, `place` a folder in the worktree, `gitDir` the repository that it must be. */
export type Pinning = { folder: string; place: string; gitDir?: string | undefined; fresh?: true | undefined }

type Note = { top: string; gitDir: string; commonDir: string; links: Links; settings: Settings; stamp: string }

/** Where it is kept for a loop. */
export function pinFolder(home: string, loop: string): string {
  return join(home, 'git', loop)
}

/** Where the commits of the checkpoints are recorded. */
export function commitsFile(home: string, loop: string): string {
  return join(pinFolder(home, loop), COMMITS)
}

/** The same for the person's own worktree, for a loop that has another one. */
function originFolder(home: string, loop: string): string {
  return `${pinFolder(home, loop)}.from`
}

/** What a loop in a linked worktree will be accepted into. */
export async function pinOrigin(home: string, loop: string, from: string): Promise<void> {
  await openPin({ folder: originFolder(home, loop), place: realFolder(from) })
}

/**
 * The worktrees of a loop, with their links repaired, and what its turns changed in configuration and hooks: if they
 * did, git uses those of the start, and if not, the current ones. None if nobody has recorded them.
 */
export async function openPins(home: string, loop: string): Promise<{ sites: Site[]; changes: string[] }> {
  const pins = [pinFolder, originFolder].flatMap((folderOf) => {
    const folder = folderOf(realFolder(home), loop)
    const note = readNote(folder)
    return note && isThere(note, note.top) ? [pinOf(folder, note)] : []
  })
  for (const { repair } of pins) repair()
  const changes = (await Promise.all(pins.map((pin) => pin.changes()))).flat()
  const sites = pins.map(({ repo: { top, gitDir, commonDir, pinned } }) => ({
    ...{ top, gitDir, commonDir },
    ...(changes.length > 0 && pinned !== undefined ? { pinned } : {}),
  }))
  return { sites, changes: [...new Set(changes)] }
}

export function forgetPins(home: string, loop: string): void {
  for (const folderOf of [pinFolder, originFolder]) rmSync(folderOf(home, loop), { recursive: true, force: true })
}

/** Whether a complete one is kept there. */
export function isPinned(folder: string): boolean {
  return readNote(folder) !== undefined
}

export async function openPin({ folder, place, gitDir, fresh }: Pinning): Promise<Pin | { none: string }> {
  const known = fresh ? undefined : readNote(folder)
  const gone = (path: string) => ({ none: `the git repository it started in no longer exists: ${path}` })
  if (known && isThere(known, place)) return pinOf(folder, known)
  const found = await findSite(place)
  if ('none' in found) return known ? gone(known.gitDir) : found
  if (gitDir !== undefined && found.gitDir !== gitDir) return gone(gitDir)
  if (known && (found.commonDir !== known.commonDir || found.top !== known.top)) return gone(known.gitDir)
  const settings = known?.settings ?? (await readSettings(found))
  if (!settings) return { none: `git cannot read the configuration of ${found.gitDir}` }
  if (!known) {
    rmSync(folder, { recursive: true, force: true })
    makePrivateFolder(folder)
    pinSettings(found.commonDir, settings, join(folder, COMMON))
  }
  const note: Note = { ...found, links: readLinks(found), settings, stamp: settingsStamp(found, settings) }
  writeWhole(join(folder, NOTE), JSON.stringify(note))
  return pinOf(folder, note)
}

const NOTE = 'repository.json'
const COMMON = 'common'
const COMMITS = 'commits'

/** A damaged one is made again. */
function readNote(folder: string): Note | undefined {
  const text = readIfThere(join(folder, NOTE))
  if (text === undefined || !existsSync(join(folder, COMMON, 'config'))) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isThere({ top, gitDir }: Note, place: string): boolean {
  const lies = place === top || pathBelow(top, place) !== undefined
  return lies && isFolder(gitDir)
}

function pinOf(folder: string, { top, gitDir, commonDir, links, settings: start, stamp }: Note): Pin {
  const where = { top, gitDir, commonDir }
  const site: Site = { ...where, pinned: join(folder, COMMON), commits: join(folder, COMMITS) }
  const file = join(folder, 'left.json')
  let seen: string | undefined
  async function changes(): Promise<string[]> {
    const text = readIfThere(file)
    if (text === undefined) return []
    const left: Settings = JSON.parse(text)
    const now = (await readSettings(where)) ?? left // what git cannot read is as bad as the worst of it
    return describeChanges(commonDir, { start, left, now })
  }
  // If the repository itself is missing, there is nothing to repair.
  const repair = () => (isFolder(join(commonDir, 'objects')) ? repairLinks(where, links, join(folder, 'aside')) : [])
  return {
    repo: openSite(site),
    changes,
    repair,
    async look() {
      const repaired = repair()
      const now = settingsStamp(where, start)
      if (now === (seen ?? stamp)) return repaired
      seen = now
      const left = await readSettings(where)
      if (!left) return [...repaired, `git cannot read ${join(commonDir, 'config')}. ${UNREADABLE}`]
      writeWhole(file, JSON.stringify(left))
      return [...repaired, ...(await changes())]
    },
  }
}

const UNREADABLE = 'ralph uses the settings from the start of the loop.'
