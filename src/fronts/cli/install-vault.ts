/** `ralph install claude --vault DIR`: validates the vault and collects what its hook needs to know. */
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
  if (words[0] !== 'claude') throw usage(spec, '--vault only works with claude: it sets up a Stop hook there.')
  if (flag('user') || flag('project')) throw usage(spec, '--vault cannot be combined with --user or --project.')
  const path = resolve(cwd, given)
  if (spec.name === 'install' && !isFolder(path)) throw usage(spec, `No such folder: --vault ${given}.`)
  const here = { ...site, project: targetOf(path) }
  // Uninstalling goes by what was written then, not by today's settings.
  const place = vaultPlace(
    spec.name === 'install' ? foldersOf(here) : { state: DEFAULTS.stateDir, done: DEFAULTS.doneFolder },
  )
  return { place, site: here, folder: place.folder(here) }
}

function foldersOf(site: Site): VaultFolders {
  const { stateDir: state, doneFolder: done } = mustBeVault(site, site.project)
  return { state, done }
}

/** Overwriting another program's hook of that name would disable it. */
export function refuseForeign({ read }: Site, { record }: Installation): void {
  const path = scriptIn(record.folder)
  const text = read(path)
  if (text === undefined || isOwnScript(text) || record.files.some((file) => file.path === path)) return
  throw new RalphError(
    'file-unusable',
    `${path} already exists and was not written by ralph. Rename it, then try again.`,
  )
}
