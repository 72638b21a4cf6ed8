/** `ralph install claude --vault DIR`: whether that is a vault, and what its hook must know of it. */
import { join, resolve } from 'node:path'
import { RalphError } from '../../error.ts'
import { quoteWord } from '../../formats/command-line.ts'
import { isFolder } from '../../host/files.ts'
import { targetOf } from '../../host/person-file.ts'
import type { Place } from '../../install/agents.ts'
import type { Installation } from '../../install/installation.ts'
import type { Site } from '../../install/pieces.ts'
import { isOwnScript, scriptIn, type VaultFolders, vaultPlace } from '../../install/vault.ts'
import { NEEDS_ACTION } from '../../vault/place.ts'
import { resolveSettings } from '../../vault/settings.ts'
import { type Args, usage } from './args.ts'

type Asked = { place: Place; site: Site; folder: string }

export function askedForVault({ spec, words, flag }: Args, given: string, site: Site, cwd: string): Asked {
  if (words[0] !== 'claude') throw usage(spec, '--vault is for claude alone, whose Stop hook it sets up.')
  if (flag('user') || flag('project')) throw usage(spec, '--vault stands alone, without --user and --project.')
  const path = resolve(cwd, given)
  if (spec.name === 'install' && !isFolder(path)) throw usage(spec, `--vault ${given}: there is no such folder.`)
  const here = { ...site, project: targetOf(path) }
  // What is taken out is known by what was written, whatever is set by now.
  const place = vaultPlace(spec.name === 'install' ? foldersOf(here) : { state: 'Ralph_State', done: 'Done' })
  return { place, site: here, folder: place.folder(here) }
}

/** A hook in a folder that was not meant would never be heard of. */
function foldersOf({ home, env, project }: Site): VaultFolders {
  const { stateDir: state, doneFolder: done } = resolveSettings({}, { env, home, vault: project })
  if (isFolder(join(project, NEEDS_ACTION)) || isFolder(join(project, done))) return { state, done }
  const make = [join(project, NEEDS_ACTION), join(project, done)].map(quoteWord).join(' ')
  throw new RalphError(
    'usage',
    `${project} is no vault: it has neither ${NEEDS_ACTION} nor ${done}. Make them, then try again: mkdir -p ${make}`,
  )
}

/** A hook of that name which is another program's would not run any more. */
export function refuseForeign({ read }: Site, { record }: Installation): void {
  const path = scriptIn(record.folder)
  const text = read(path)
  if (text === undefined || isOwnScript(text) || record.files.some((file) => file.path === path)) return
  throw new RalphError('file-unusable', `${path} is there already, and it is not ralph's. Rename it, then try again.`)
}
