/** The real agent clients: installed from npm into a folder that git ignores, and isolated from this machine. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import type { Reply } from './model-server.ts'
import type { Scene } from './scenes.ts'

/** What the tests must know about a client and its adapter need not. */
export type Client = {
  /** The name of its folder below `.clients`, and for `--agent`. */
  name: string
  /** The value for `--agent`, if it is not the name. */
  agent?: string
  /** The package and the tested version; `npm run test:clients` installs it. */
  pin: string
  /**
   * For a bundle that declares packages which it already contains, and which a registry may lack: those that it really
   * loads.
   */
  bundled?: { loads: readonly string[]; main: string }
  /** The file below `node_modules/.bin`. */
  program: string
  /** What it needs to talk to a scripted model and to nothing else; files are written into its private home. */
  prepare(home: string, url: string): Record<string, string | undefined>
  /** A model for `--model`. */
  model: string
  /** A call of its shell tool. */
  bash(command: string): { name: string; input: object }
  /** The error its model returns when the context is full. */
  contextFull: Reply
  /** Requests outside the conversation. */
  isAside?(body: unknown): boolean
  /** What makes it retry soon after an error of its model. */
  errorHeaders?: Record<string, string>
  /** Where else its messages are recorded. */
  scenes?: Record<string, Scene>
}

/** The folder of its program, installed if needed, or why it is not available. */
export function installClient(client: Client): { bin: string } | { missing: string } {
  const { name, pin, program } = client
  const folder = resolve('.clients', name)
  const bin = join(folder, 'node_modules', '.bin')
  try {
    if (!existsSync(join(bin, program)) || !isPinned(folder, pin)) {
      mkdirSync('.clients', { recursive: true })
      // Test files run in parallel: each installs its own copy, and the first one that is ready serves them all.
      const mine = mkdtempSync(resolve('.clients', `.${name}-`))
      try {
        if (client.bundled) unpack(mine, client, client.bundled)
        else npm('install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', mine, pin)
        if (!isPinned(folder, pin)) rmSync(folder, { recursive: true, force: true })
        if (!existsSync(folder)) renameSync(mine, folder)
      } finally {
        rmSync(mine, { recursive: true, force: true })
      }
    }
    execFileSync(join(bin, program), ['--version'], {
      stdio: 'pipe',
      timeout: 60_000,
      killSignal: 'SIGKILL', // some ignore SIGTERM
      env: { PATH: pathWith(bin) },
    })
    return { bin }
  } catch (cause) {
    const [why] = cause instanceof Error ? cause.message.split('\n') : [cause]
    return { missing: `${pin} cannot be installed here: ${why}` }
  }
}

function npm(...args: string[]): void {
  execFileSync('npm', args, { stdio: 'pipe', timeout: 300_000, killSignal: 'SIGKILL' })
}

/** The package without its declared dependencies, next to only those it loads. */
function unpack(folder: string, { pin, program }: Client, { loads, main }: NonNullable<Client['bundled']>): void {
  npm('install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', folder, ...loads)
  npm('pack', '--pack-destination', folder, pin)
  const tarball = readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? ''
  const packages = join(folder, 'node_modules')
  const own = join(packages, nameIn(pin))
  mkdirSync(own, { recursive: true })
  execFileSync('tar', ['xzf', join(folder, tarball), '-C', own, '--strip-components', '1'])
  mkdirSync(join(packages, '.bin'), { recursive: true })
  chmodSync(join(own, main), 0o755)
  symlinkSync(join('..', nameIn(pin), main), join(packages, '.bin', program))
}

function nameIn(pin: string): string {
  return pin.slice(0, pin.lastIndexOf('@'))
}

function isPinned(folder: string, pin: string): boolean {
  const manifest = join(folder, 'node_modules', nameIn(pin), 'package.json')
  return existsSync(manifest) && `${nameIn(pin)}@${JSON.parse(readFileSync(manifest, 'utf8')).version}` === pin
}

/** The client, and the Node that runs this: clients may need a newer one than the machine has. */
export function pathWith(bin: string): string {
  return [bin, dirname(process.execPath), process.env.PATH].join(delimiter)
}
