/**
 * Adds the optional packages of every platform to the lock file. When a registry lacks some of them, npm leaves them out
 * of the lock, and `npm ci` then refuses it. Run after `npm install`: `npm run lock`.
 */
import { readFileSync, writeFileSync } from 'node:fs'

type Entry = { version: string; optionalDependencies?: Record<string, string>; [field: string]: unknown }

const FILE = 'package-lock.json'
const SYSTEMS = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const PROCESSORS = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64']

const lock: { packages: Record<string, Entry> } = JSON.parse(readFileSync(FILE, 'utf8'))
for (const { optionalDependencies = {}, license } of Object.values(lock.packages))
  for (const [name, version] of Object.entries(optionalDependencies))
    lock.packages[`node_modules/${name}`] ??= entryOf(name, version.replace(/^[~^]/, ''), license)
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`)

function entryOf(name: string, version: string, license: unknown): Entry {
  const parts = name.split(/[/-]/)
  const system = SYSTEMS.find((word) => parts.includes(word))
  const processor = PROCESSORS.find((word) => parts.includes(word))
  const libc = /musl/.test(name) ? 'musl' : /-gnu/.test(name) ? 'glibc' : undefined
  return {
    version,
    ...(processor ? { cpu: [processor] } : {}),
    dev: true,
    ...(libc ? { libc: [libc] } : {}),
    license,
    optional: true,
    ...(system ? { os: [system] } : {}),
  }
}
