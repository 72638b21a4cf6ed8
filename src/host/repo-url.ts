/** The address of a remote repository: which ones git may get, and how they are shown. */
import { createHash } from 'node:crypto'
import { RalphError } from '../error.ts'
import { mask } from './mask.ts'

/** Throws a sentence for what cannot be the address of a repository, or would run a program of its choice. */
export function mustBeRepo(repo: string): void {
  const why = faultOf(repo)
  if (why !== undefined)
    throw new RalphError('input-invalid', `${JSON.stringify(maskUrl(repo))} cannot be used as a repository: ${why}`)
}

function faultOf(repo: string): string | undefined {
  if (repo === '') return 'it is empty.'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what is looked for
  if (/[\u0000-\u001f\u007f]/.test(repo)) return 'it contains control characters.'
  if (repo.startsWith('-')) return 'git would read it as an option.'
  if (/^\w[\w+.-]*::/.test(repo)) return `git would run a program to fetch it. ${USE}`
  if (repo.startsWith('/')) return undefined
  const [, scheme, rest = ''] = /^(\w[\w+.-]*):\/\/(.*)$/.exec(repo) ?? []
  if (scheme !== undefined) return faultOfUrl(scheme.toLowerCase(), rest, repo)
  const [, host] = /^([^/:]+):./.exec(repo) ?? []
  if (host === undefined) return `a relative path means something else on each worker. ${USE}`
  return hostOf(host).startsWith('-') ? OPTION : undefined
}

function faultOfUrl(scheme: string, rest: string, repo: string): string | undefined {
  if (!SCHEMES.has(scheme)) return `${scheme}:// is not one of ${[...SCHEMES].join(', ')}. ${USE}`
  const [authority = ''] = rest.split('/')
  if (hostOf(authority).startsWith('-')) return OPTION
  const isSecret = /^[^@]*:[^@]*@/.test(authority) || mask(repo) !== repo
  return isSecret ? 'it contains a password. Leave that to git: use a credential helper or an SSH key.' : undefined
}

function hostOf(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1)
}

const SCHEMES: ReadonlySet<string> = new Set(['https', 'http', 'ssh', 'git', 'file'])
const USE = 'Use https://, ssh://, host:path, or an absolute path.'
const OPTION = 'ssh would read its host as an option.'

/** For git itself, whatever its own configuration turns an address into. */
export const PROTOCOLS: string = [...SCHEMES].join(':')

/** git's messages may contain an address with a password that comes from its configuration. */
export function maskUrl(text: string): string {
  return mask(text)
    .replace(/(\w:\/\/)[^\s/@:]*:[^\s/@]*@/g, '$1***@')
    .replace(/(https?:\/\/)[^\s/@]+@/g, '$1***@')
}

/** The name of the folder of its mirror: people recognize the start, and the end makes it unique. */
export function mirrorName(repo: string): string {
  const last =
    repo
      .replace(/\/+$/, '')
      .replace(/\.git$/, '')
      .split(/[/:]/)
      .at(-1) ?? ''
  const safe = last
    .replace(/[^\w.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 40)
  const hash = createHash('sha256').update(repo).digest('hex').slice(0, 12)
  return safe === '' ? hash : `${safe}-${hash}`
}
