/** Signs the proof of a loop, so that others can verify who vouches for it. Writes the statement and its signature to files. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { codeOf } from '../host/plain-words.ts'
import { signText } from '../host/ssh-sign.ts'
import type { FoundProof } from './get-proof.ts'
import type { Context } from './operation.ts'
import { isGitTree, printStatement } from './statement.ts'

/** The namespace of proof signatures (`ssh-keygen -n`). */
export const NAMESPACE = 'ralph-proof'

export type Signed = { statement: string; signature: string }

/** `file`: default `<loop>.proof.json` in this folder. `interactive`: may ask for a passphrase. */
export async function signProof(
  { cwd, env }: Pick<Context, 'cwd' | 'env'>,
  proof: FoundProof,
  { key, file, interactive }: { key: string; file?: string; interactive: boolean },
): Promise<Signed> {
  mustBeSignable(proof)
  const statement = file ?? `${proof.loop}.proof.json`
  const signature = `${statement}.sig`
  for (const name of [statement, signature]) if (existsSync(resolve(cwd, name))) throw alreadyThere(name)
  mustBeFolder(cwd, statement)
  const text = printStatement(proof)
  const signed = await signText(text, { key, namespace: NAMESPACE, dir: cwd, env, interactive })
  writeNew(cwd, statement, text)
  writeNew(cwd, signature, signed)
  return { statement, signature }
}

function mustBeSignable({ loop, grade, seen }: FoundProof): void {
  if (grade === undefined) throw new RalphError('usage', `Loop ${loop} is not complete, so there is no proof to sign.`)
  if (!seen || !isGitTree(seen.tree))
    throw new RalphError(
      'usage',
      `Loop ${loop} did not run in a git repository, so its proof cannot say which files were checked, and cannot be signed.`,
    )
}

function writeNew(cwd: string, name: string, text: string): void {
  try {
    writeFileSync(resolve(cwd, name), text, { flag: 'wx' })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw alreadyThere(name)
    throw new RalphError(
      'file-unusable',
      `${name} cannot be written. Make its folder writable, or choose another file: -o FILE.`,
      { cause },
    )
  }
}

/** Before anyone types a passphrase. */
function mustBeFolder(cwd: string, name: string): void {
  const folder = dirname(resolve(cwd, name))
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return
  throw new RalphError(
    'file-unusable',
    `${name} cannot be written: ${folder} is not a folder. Create it, or choose another file: -o FILE.`,
  )
}

function alreadyThere(name: string): RalphError {
  return new RalphError('file-unusable', `${name} already exists. Remove it, or choose another file: -o FILE.`)
}
