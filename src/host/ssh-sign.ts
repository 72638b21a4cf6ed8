/** Signs a text with an SSH key, by OpenSSH's own ssh-keygen: without a service or a key of ralph's own. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { inOneLine } from './git.ts'
import { findOwnProgram } from './own-program.ts'

export type Signing = {
  /** A private key, or a public one whose private key is in the ssh-agent. */
  key: string
  /** What the signature is for; it is not valid for anything else. */
  namespace: string
  dir: string
  env: Readonly<Record<string, string | undefined>>
  /** Somebody can be asked for the passphrase. */
  interactive: boolean
}

/** The signature, as `ssh-keygen -Y verify` reads it. */
export async function signText(text: string, { key, namespace, dir, env, interactive }: Signing): Promise<string> {
  const program = findOwnProgram('ssh-keygen', dir, env.PATH)
  if (program === undefined)
    throw new RalphError('file-unusable', 'ssh-keygen is not installed, and signing needs it. Install OpenSSH.')
  if (!existsSync(resolve(dir, key)))
    throw new RalphError(
      'file-unusable',
      `No such key: ${key}. Name a private key, or a public key whose private key is in your ssh-agent.`,
    )
  const { promise, resolve: done, reject } = Promise.withResolvers<string>()
  const child = execFile(
    program,
    ['-Y', 'sign', '-q', '-f', key, '-n', namespace],
    {
      cwd: dir,
      // It prompts in the terminal, wherever its input comes from. Without a terminal, an askpass program that fails is
      // used instead.
      env: { ...env, LC_ALL: 'C', ...(interactive ? {} : { SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' }) },
      timeout: MINUTES * 60_000,
    },
    (failure, out, err) => (failure ? reject(notSigned(key, `${err}`.trim() || failure.message)) : done(out)),
  )
  child.stdin?.on('error', () => {}) // it may exit without reading
  child.stdin?.end(text)
  return promise
}

/** A person may have to look up their passphrase, or to touch their key. */
const MINUTES = 5

function notSigned(key: string, says: string): RalphError {
  if (/passphrase/i.test(says))
    return new RalphError(
      'file-unusable',
      `The passphrase of the key ${key} is missing or wrong. Run this in a terminal, or add the key to your ssh-agent (ssh-add ${key}) and name its public key.`,
    )
  return new RalphError('file-unusable', `ssh-keygen cannot sign with ${key}: ${inOneLine(says)}`)
}
