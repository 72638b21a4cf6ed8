/** Programs that run the command in their arguments, and how shells receive theirs. */
import { type Following, SHELLS, type Where } from './means-follow.ts'
import { PACKAGES } from './means-packages.ts'
import { resolve } from './means-paths.ts'
import { isRunner } from './means-runners.ts'
import { onlyLooks } from './means-unclear.ts'

export const ASSIGNS: RegExp = /^[A-Za-z_]\w*=/

/** With the verb that comes before the command. */
const WRAPPERS: Readonly<Record<string, RegExp | undefined>> = {
  ...Object.fromEntries(
    'env time nice nohup exec command sudo timeout xargs cross-env setsid stdbuf xvfb-run nyc c8 eval ionice chronic unbuffer catchsegv flock taskset'
      .split(' ')
      .map((name) => [name, /^$/]),
  ),
  ...Object.fromEntries(
    'uv poetry pipenv rye pdm hatch bundle dotenv dotenvx doppler op mise direnv nix rtx asdf coverage docker-run'
      .split(' ')
      .map((name) => [name, /^(run|exec|x|develop|shell)$/]),
  ),
}

/**
 * The command that a program runs. Options with values make it hard to say where it starts, so the first word that can be
 * nothing else is taken; for an unknown program, only a shell or a runner.
 */
export function wrapped(
  { files, top }: Following,
  name: string,
  args: readonly string[],
  where: Where,
): string[] | undefined {
  const verb = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined
  if (onlyLooks(name)) return undefined
  if (name === 'coverage' && args[0] === 'run') return ['python', ...args.slice(1)]
  const rest = name === 'flock' ? args.slice(args.findIndex((word) => !word.startsWith('-')) + 1) : args // after its lock file
  const sure = rest.findIndex(
    (word) => isStarter(word) || (verb && word.includes('/') && resolve(files, top, word, where) !== undefined),
  )
  if (sure >= 0 || !verb) return sure < 0 ? undefined : rest.slice(sure)
  const at = rest.findIndex((word) => !/^-|^[\d.]+[smhd]?$/.test(word) && !ASSIGNS.test(word) && !verb.test(word))
  return at < 0 ? undefined : rest.slice(at)
}

function isStarter(word: string): boolean {
  const name = word.slice(word.lastIndexOf('/') + 1)
  return SHELLS.test(name) || /^g?make$/.test(name) || PACKAGES.test(name) || isRunner(name) || isWrapper(name)
}

function isWrapper(name: string): boolean {
  return Object.hasOwn(WRAPPERS, name)
}

/** `text` is what follows `-c`. Undefined: it only reads its script, or has none. */
export type ShellArgs = { kind: 'text' | 'script'; word: string; given: string[] } | undefined

export function readShellArgs(args: readonly string[]): ShellArgs {
  let kind: 'text' | 'script' = 'script'
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ''
    const isOption = /^[-+]./.test(word)
    if (!isOption) return { kind, word, given: args.slice(at + 1) }
    const letters = /^-([A-Za-z]+)$/.exec(word)?.[1] ?? ''
    if (letters.includes('n')) return undefined
    if (letters.includes('c')) kind = 'text'
    if (/^[-+]\w*[oO]$|^--(rcfile|init-file)$/.test(word)) at++
  }
  return undefined
}
