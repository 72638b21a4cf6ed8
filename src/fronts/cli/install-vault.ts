/** `ralph install claude --vault DIR`: whether that is a vault, and what its hook must know of it. */
import { resolve } from 'node:path'
import { RalphError } from '../../error.ts'
import { isFolder } from '../../host/files.ts'
import { targetOf } from '../../host/person-file.ts'
import type { Place } from '../../install/agents.ts'
import type { Installation } from '../../install/installation.ts'
import type { Site } from '../../install/pieces.ts'
import { isOwnScript, scriptIn, type VaultFolders, vaultPlace } from '../../install/vault.ts'
import { mustBeVault } from '../../operations/vault-place.ts'
import { DEFAULTS } from '../../request/defaults.ts'
import { type Args, usage } from './args.ts'

type Asked = { place: Place; site: Site; folder: string }

export function askedForVault({ spec, words, flag }: Args, given: string, site: Site, cwd: string): Asked {
  if (words[0] !== 'claude') throw usage(spec, '--vault is for claude alone, whose Stop hook it sets up.')
  if (flag('user') || flag('project')) throw usage(spec, '--vault stands alone, without --user and --project.')
  const path = resolve(cwd, given)
  if (spec.name === 'install' && !isFolder(path)) throw usage(spec, `--vault ${given}: there is no such folder.`)
  const here = { ...site, project: targetOf(path) }
  // What is taken out is known by what was written, whatever is set by now.
  const place = vaultPlace(
    spec.name === 'install' ? foldersOf(here) : { state: DEFAULTS.stateDir, done: DEFAULTS.doneFolder },
  )
  return { place, site: here, folder: place.folder(here) }
}

function foldersOf(site: Site): VaultFolders {
  const { stateDir: state, doneFolder: done } = mustBeVault(site, site.project)
  return { state, done }
}

/** A hook of that name which is another program's would not run any more. */
export function refuseForeign({ read }: Site, { record }: Installation): void {
  const path = scriptIn(record.folder)
  const text = read(path)
  if (text === undefined || isOwnScript(text) || record.files.some((file) => file.path === path)) return
  throw new RalphError('file-unusable', `${path} is there already, and it is not ralph's. Rename it, then try again.`)
}
