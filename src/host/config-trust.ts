/**
 * Configuration that a loop changed names programs that the next loop would run: ralph does not obey it until a person
 * agrees. The records are in ralph's own folder, one file for each text at each path.
 */
import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { readJson } from '../formats/json-file.ts'
import { extractOwn } from '../formats/ralph-section.ts'
import { isFolder, makePrivateFolder, readIfThere, realFolder, writeWhole } from './files.ts'

export const CONFIG_FILES = ['ralph.config.json', 'config.yaml'] as const

/** `mark`: the hash of what ralph obeys in it. */
type Doubt = { path: string; mark: string; loop: string; trusted?: true }

/** The configuration of a folder as one mark per file. A file without settings for ralph has none. */
export function markSettings(dir: string): Record<string, string> {
  return Object.fromEntries(
    CONFIG_FILES.flatMap((name) => {
      const mark = markOf(name, readIfThere(join(dir, name)))
      return mark === NOTHING ? [] : [[name, mark]]
    }),
  )
}

/** Absent: there is no such file. */
export function markOf(name: string, text = ''): string {
  const own = name === 'config.yaml' ? extractOwn(text) : text
  return own.trim() === '' ? NOTHING : hash('sha256', own.trim())
}

export const NOTHING = 'nothing'

/** Records that a loop left this behind. Returns whether that is new. */
export function doubtConfig(home: string, doubt: Omit<Doubt, 'trusted'>): boolean {
  const file = fileOf(home, doubt.path, doubt.mark)
  if (readIfThere(file) !== undefined) return false
  makePrivateFolder(join(home, 'configs'))
  writeWhole(file, `${JSON.stringify(doubt)}\n`)
  return true
}

/** What nobody has agreed to yet. */
function doubtedConfigs(home: string, dir: string): Doubt[] {
  if (!isFolder(join(home, 'configs'))) return [] // usually no loop has ever changed one
  const folder = realFolder(dir)
  return CONFIG_FILES.flatMap((name) => {
    const path = join(folder, name)
    const read = readJson(readIfThere(fileOf(home, path, markOf(name, readIfThere(path)))) ?? '')
    const doubt = 'value' in read ? (read.value as Doubt) : undefined // only ralph writes there
    return doubt && !doubt.trusted ? [doubt] : []
  })
}

/** The `cause` of the error it throws is the folder. */
export function mustBeTrusted(home: string, dir: string): void {
  const [doubt] = doubtedConfigs(home, dir)
  if (doubt)
    throw new RalphError(
      'config-changed',
      `${doubt.path} was ${doubt.mark === NOTHING ? 'deleted' : 'changed'} by loop ${doubt.loop}, so it is not used until you accept it, because it names programs that ralph runs. Review it, then run \`ralph trust ${realFolder(dir)}\`, or correct it.`,
      { cause: dir },
    )
}

/** A person agrees to what is there now. `loop`: to what this loop left. Returns the files. */
export function trustConfigs(home: string, dir: string, loop?: string): string[] {
  const doubts = doubtedConfigs(home, dir).filter((doubt) => loop === undefined || doubt.loop === loop)
  for (const doubt of doubts)
    writeWhole(fileOf(home, doubt.path, doubt.mark), `${JSON.stringify({ ...doubt, trusted: true })}\n`)
  return doubts.map(({ path }) => path)
}

/** Whether a loop that no process is running has moved since it was last looked at; marks it as looked at. */
export function isLookedAtFirst(home: string, { id, updatedAt }: { id: string; updatedAt: number }): boolean {
  const file = join(home, 'configs', `${id}.looked`)
  if (readIfThere(file) === String(updatedAt)) return false
  makePrivateFolder(join(home, 'configs'))
  writeWhole(file, String(updatedAt))
  return true
}

/** The clock of the file system lags behind. */
const CLOCKS_MS = 1_000

/** Whether the files may have changed since then. Reads nothing: it is called after every turn of a session. */
export function mayHaveChanged(dir: string, since: number, settings: Readonly<Record<string, string>> = {}): boolean {
  return CONFIG_FILES.some((name) => {
    const stat = statSync(join(dir, name), { throwIfNoEntry: false })
    return stat ? stat.ctimeMs > since - CLOCKS_MS : settings[name] !== undefined
  })
}

function fileOf(home: string, path: string, mark: string): string {
  return join(home, 'configs', `${hash('sha256', `${path}\0${mark}`)}.json`)
}
