import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import type { FoundProof } from './get-proof.ts'
import { NAMESPACE, signProof } from './sign-proof.ts'
import { printStatement } from './statement.ts'

const hasKeygen = spawnSync('ssh-keygen', ['-?']).error === undefined
const MISSING = 'ssh-keygen is not installed'

const proven: FoundProof = {
  loop: 'a1',
  status: 'completed',
  grade: 'verified',
  sentence: '`npm test` failed before the loop began and passes now.',
  experiments: 'full',
  dir: '/home/ada/shop',
  iterations: 1,
  seen: { tree: 'a'.repeat(40) },
  checks: [{ check: 'npm test', after: { check: 'npm test', result: 'pass' } }],
  findings: [],
  allowed: [],
  flaky: [],
}

function makeKey(passphrase = ''): { cwd: string; key: string; env: NodeJS.ProcessEnv } {
  const cwd = temporaryFolder()
  const key = join(temporaryFolder(), 'key')
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'ada', '-f', key])
  return { cwd, key, env: { PATH: process.env.PATH } }
}

function verify(cwd: string, key: string, statement: string): boolean {
  writeFileSync(join(cwd, 'allowed_signers'), `ada ${readFileSync(`${key}.pub`, 'utf8')}`)
  const args = ['-Y', 'verify', '-f', 'allowed_signers', '-I', 'ada', '-n', NAMESPACE, '-s', 'a1.proof.json.sig']
  return spawnSync('ssh-keygen', args, { cwd, input: statement }).status === 0
}

test('a signature verifies its statement, and no other', async ({ skip }) => {
  skip(!hasKeygen, MISSING)
  const { key, ...context } = makeKey()
  const signed = await signProof(context, proven, { key, interactive: false })
  expect(signed).toEqual({ statement: 'a1.proof.json', signature: 'a1.proof.json.sig' })
  const text = readFileSync(join(context.cwd, signed.statement), 'utf8')
  expect(text).toBe(printStatement(proven))
  expect(verify(context.cwd, key, text)).toBe(true)
  expect(verify(context.cwd, key, text.replace('"verified"', '"kept"'))).toBe(false)
})

test('existing files are not overwritten', async ({ skip }) => {
  skip(!hasKeygen, MISSING)
  const { key, ...context } = makeKey()
  writeFileSync(join(context.cwd, 'mine.json.sig'), 'mine')
  const again = signProof(context, proven, { key, interactive: false, file: 'mine.json' })
  await expect(again).rejects.toThrow('mine.json.sig already exists. Remove it, or choose another file: -o FILE.')
  expect(readdirSync(context.cwd)).toEqual(['mine.json.sig'])
})

test('a file that cannot be written is reported before the key is used', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'file'), '')
  const sign = (file: string) => signProof({ cwd, env: {} }, proven, { key: 'nowhere', interactive: false, file })
  for (const [file, folder] of [
    ['none/x.json', join(cwd, 'none')],
    ['file/x.json', join(cwd, 'file')],
    ['file/a/x.json', join(cwd, 'file', 'a')],
  ] as const)
    await expect(sign(file)).rejects.toMatchObject({
      code: 'file-unusable',
      message: `${file} cannot be written: ${folder} is not a folder. Create it, or choose another file: -o FILE.`,
    })
})

test('a key with a passphrase fails at once if nobody can type it', async ({ skip }) => {
  skip(!hasKeygen, MISSING)
  const { key, ...context } = makeKey('secret')
  const refused = signProof(context, proven, { key, interactive: false })
  await expect(refused).rejects.toThrow(/^The passphrase of the key .* is missing or wrong/)
  expect(readdirSync(context.cwd)).toEqual([])
})

test('says which key is missing, and which is not a key', async ({ skip }) => {
  skip(!hasKeygen, MISSING)
  const { cwd, env } = makeKey()
  const sign = (key: string) => signProof({ cwd, env }, proven, { key, interactive: false })
  await expect(sign('nowhere')).rejects.toThrow('No such key: nowhere.')
  writeFileSync(join(cwd, 'note.txt'), 'not a key')
  await expect(sign('note.txt')).rejects.toThrow(/^ssh-keygen cannot sign with note.txt: /)
  expect(existsSync(join(cwd, 'a1.proof.json'))).toBe(false)
})

test('says that ssh-keygen is missing', async () => {
  const cwd = temporaryFolder()
  mkdirSync(join(cwd, 'bin'))
  const refused = signProof({ cwd, env: { PATH: join(cwd, 'bin') } }, proven, { key: 'k', interactive: false })
  await expect(refused).rejects.toThrow('ssh-keygen is not installed')
})

test('signs no proof that is incomplete or does not name the checked files', async () => {
  const sign = (proof: FoundProof) =>
    signProof({ cwd: temporaryFolder(), env: {} }, proof, { key: 'k', interactive: false })
  const { grade: _, ...ungraded } = proven
  await expect(sign(ungraded)).rejects.toThrow('Loop a1 is not complete, so there is no proof to sign.')
  await expect(sign({ ...proven, seen: { tree: '0123456789abcdef' } })).rejects.toThrow(
    'did not run in a git repository',
  )
})
