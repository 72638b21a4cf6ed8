/** Codex records which hooks the user has trusted. When ralph's hooks are removed, so are those records. */
import { join } from 'node:path'
import { isObject, readJson } from '../formats/json-file.ts'
import { allItems } from '../formats/json-text.ts'
import { extractTables, removeTables } from '../formats/toml-tables.ts'
import type { Edit, Ground } from './plan.ts'

/** Hooks of one file: all of them, or those in these groups. */
export type Trusted = { file: string; own: 'all' | { event: string; group: number }[] }

/** The edits of an uninstall, with the resulting Codex config. `config`: the folder of the user's own settings. */
export function forgetTrust(
  edits: readonly Edit[],
  { folder, config, ground }: { folder: string; config: string; ground: Ground },
): Edit[] {
  const path = join(config, 'config.toml')
  const known = edits.find((edit) => edit.path === path)
  const now = known ? known.now : ground.look(path)
  const text = (known ? known.next : now)?.toString()
  if (text === undefined) return [...edits]
  const file = join(folder, 'hooks.json')
  const next = withoutTrust(text, { file, own: ownHooks(edits, file, ground) })
  if (next === text) return [...edits]
  const edit: Edit = known ?? { path, kind: 'table', now, next: now, origin: now, changed: false, left: false }
  return [...edits.filter((one) => one !== known), { ...edit, next: Buffer.from(next) }]
}

function ownHooks(edits: readonly Edit[], file: string, { look, isOwn }: Ground): Trusted['own'] {
  const edit = edits.find(({ path }) => path === file)
  const text = look(file)?.toString()
  if (text === undefined || (edit && edit.next === undefined)) return 'all'
  const read = readJson(text)
  const hooks = 'value' in read && isObject(read.value) ? read.value.hooks : undefined
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    (Array.isArray(groups) ? groups : []).flatMap((item: unknown, group) =>
      allItems([item]).some(isOwn) ? [{ event, group }] : [],
    ),
  )
}

/** Codex names a hook by its file, event and position: `/home/ada/.codex/hooks.json:stop:0:0`. */
export function withoutTrust(text: string, { file, own }: Trusted): string {
  const keys = [...text.matchAll(/^\s*\[\s*hooks\.state\."([^"\n]*):(\w+):(\d+):(\d+)"\s*\]/gm)]
  const names = keys.flatMap(([, path, event, group, hook]) =>
    path === file && isAmong(own, event ?? '', Number(group)) ? [`${STATE}.${path}:${event}:${group}:${hook}`] : [],
  )
  if (names.length === 0) return text
  const left = removeTables(text, names.map(plain)) ?? text
  const rest = extractTables(left, ['hooks'])?.trim() ?? ''
  // Headers that Codex wrote only for these.
  return /^(\[hooks\]\s*)?(\[hooks\.state\])?$/.test(rest) ? (removeTables(left, ['hooks']) ?? left) : left
}

const STATE = 'hooks.state'

function isAmong(own: Trusted['own'], event: string, group: number): boolean {
  return own === 'all' || own.some((one) => snake(one.event) === event && one.group === group)
}

/** `UserPromptSubmit` is `user_prompt_submit` there. */
function snake(name: string): string {
  return name.replace(/\B[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

/** For comparing tables: without quotes and blanks. */
function plain(name: string): string {
  return name.replace(/["'\s]/g, '')
}
