/** Builds dist/: the command line, the programs ralph starts, and the library with its types. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { type BuildOptions, build, type Plugin, transformSync } from 'esbuild'
import { buildWeb } from './build-web.ts'
import { entryOf, type Later, loadLater } from './later.ts'

/** Modules that the end of a turn rarely needs, by the bundle that holds them. To move a module out of `hook.cjs`, list it here. */
const LATER: Later = {
  'hook-secrets': ['src/host/mask.ts', 'src/host/sealed.ts'], // every turn needs it, but it loads quickly
  'hook-keep': ['src/host/keep-secret.ts'],
  'hook-git': ['src/host/git-tree.ts'], // asking git takes far longer than loading this
  'hook-settings': ['src/drive/look-at-settings.ts'], // when the configuration was written in this turn
  // For unusual input and for errors.
  'hook-words': ['src/formats/harmless.ts', 'src/host/home.ts', 'src/host/plain-words.ts', 'src/host/put-back.ts'],
  'hook-checks': [
    'src/engine/after-checks.ts',
    'src/engine/conclude.ts',
    'src/engine/cooldown.ts',
    'src/engine/echo.ts',
    'src/engine/extend.ts',
    'src/engine/fingerprint.ts',
    'src/engine/obey.ts',
    'src/engine/proof.ts',
    'src/engine/proof-words.ts',
    'src/engine/stakes.ts',
    'src/engine/stored.ts',
    'src/engine/trials.ts',
    'src/engine/wait-out.ts',
  ],
}

rmSync('dist', { recursive: true, force: true })
const common: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  logLevel: 'warning',
  mainFields: ['module', 'main'], // the other form of jsonc-parser looks for its own files when it runs
}
/** In a bundle of ES modules. */
const REQUIRE = "process.getBuiltinModule('node:module').createRequire(import.meta.url)"
const oldNode = readFileSync('src/fronts/hook/old-node.cjs', 'utf8')
await Promise.all([
  build({
    ...common,
    entryPoints: { cli: 'src/fronts/cli/main.ts' },
    outdir: 'dist',
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [yamlLater('require'), pgLater('require'), bossLater('require')],
    external: ['./yaml.cjs', './pg.cjs', './pg-boss.cjs'],
    outExtension: { '.js': '.cjs' },
  }),
  buildHook('hook', {
    entryPoints: ['src/fronts/hook/main.ts'],
    banner: { js: transformSync(oldNode, { minify: true, target: 'node16' }).code },
  }),
  buildHook('hook-more', { entryPoints: ['src/fronts/hook/more.ts'] }, {}), // everything it needs in one file, so that nothing more is loaded
  buildHook('pane-hook', { entryPoints: ['src/fronts/hook/pane-main.ts'] }, {}),
  ...Object.keys(LATER).map((name) => buildHook(name, entryOf(LATER, name))),
  build({
    ...common,
    entryPoints: { 'scripted-agent': 'src/host/scripted-agent.ts', 'scripted-pane': 'src/host/scripted-pane.ts' },
    outdir: 'dist',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
  }),
  // Pi may run on an older Node than ralph.
  build({
    ...common,
    target: 'node20',
    entryPoints: { pi: 'src/fronts/pi/main.ts' },
    outdir: 'dist',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
  }),
  build({
    ...common,
    entryPoints: { index: 'src/index.ts' },
    outdir: 'dist',
    format: 'esm',
    plugins: [yamlLater(REQUIRE), pgLater(REQUIRE), bossLater(REQUIRE)],
  }),
  build({
    ...common,
    entryPoints: { operations: 'src/operations/library.ts' },
    outdir: 'dist',
    format: 'esm',
    plugins: [yamlLater(REQUIRE), pgLater(REQUIRE), bossLater(REQUIRE)],
  }),
  build({
    ...common,
    entryPoints: { server: 'src/fronts/server/main.ts' },
    outdir: 'dist',
    format: 'esm',
    plugins: [yamlLater(REQUIRE), pgLater(REQUIRE), bossLater(REQUIRE)],
    outExtension: { '.js': '.mjs' },
  }),
  build({
    ...common,
    platform: 'neutral', // a page also uses it
    target: 'es2022',
    entryPoints: { client: 'src/fronts/server/client.ts' },
    outdir: 'dist',
    format: 'esm',
  }),
  build({
    ...common,
    entryPoints: { yaml: 'node_modules/yaml/dist/index.js' },
    outdir: 'dist',
    format: 'cjs',
    minify: true,
    outExtension: { '.js': '.cjs' },
  }),
  build({
    ...common,
    entryPoints: { pg: 'node_modules/pg/lib/index.js' },
    outdir: 'dist',
    format: 'cjs',
    minify: true,
    external: ['pg-native'], // nobody imports it
    outExtension: { '.js': '.cjs' },
  }),
  build({
    ...common,
    entryPoints: { 'pg-boss': 'node_modules/pg-boss/dist/index.js' },
    outdir: 'dist',
    format: 'cjs',
    minify: true,
    alias: { pg: './pg.cjs' },
    external: ['./pg.cjs'],
    outExtension: { '.js': '.cjs' },
  }),
  buildWeb(),
  buildTypes(),
])

const bundled = [
  '@hono/node-server',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@preact/signals',
  '@preact/signals-core',
  'hono',
  'cron-parser',
  'jsonc-parser',
  'luxon',
  'non-error',
  'pg',
  'pg-boss',
  'pg-cloudflare',
  'pg-connection-string',
  'pg-int8',
  'pg-pool',
  'pg-protocol',
  'pg-types',
  'pgpass',
  'postgres-array',
  'postgres-bytea',
  'postgres-date',
  'postgres-interval',
  'preact',
  'rrule-temporal',
  'serialize-error',
  'split2',
  'xtend',
  'yaml',
  'zod',
]
writeFileSync(
  'dist/licenses.txt',
  // The packages inside the MCP package are not installed, so their licenses are here.
  [...bundled.map(licenseOf), readFileSync('scripts/inlined-licenses.txt', 'utf8')].join('\n\n'),
)

/** A linked clone has no other chance to build them. */
async function buildTypes(): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'])
  } catch (cause) {
    const { stdout = '' } = cause as { stdout?: string } // what tsc says about the sources
    throw new Error(`The types cannot be built.\n${stdout}`, { cause })
  }
}

/** Some packages have it in their README. */
function licenseOf(name: string): string {
  const files = readdirSync(`node_modules/${name}`)
  const file = files.find((one) => /^license/i.test(one))
  if (file) return `${name}\n\n${readFileSync(`node_modules/${name}/${file}`, 'utf8')}`
  const readme = readFileSync(`node_modules/${name}/README.md`, 'utf8')
  return `${name}\n\n${readme.slice(readme.search(/^#+ license/im))}`
}

/** YAML is in its own file, loaded with the first value that needs it: most commands and hooks read none. */
function yamlLater(load: string): Plugin {
  const yaml = `${load}('./yaml.cjs')`
  return packageLater('yaml', [
    ...['isAlias', 'isMap', 'isScalar', 'isSeq', 'parseDocument'].map(
      (name) => `export const ${name} = (...given) => ${yaml}.${name}(...given)`,
    ),
    `export function LineCounter() { return new (${yaml}.LineCounter)() }`,
  ])
}

/** So are the Postgres driver, loaded with the first connection, and the queue of the fleet. */
function pgLater(load: string): Plugin {
  const pg = `${load}('./pg.cjs')`
  return packageLater('pg', [
    ...['Client', 'Pool'].map((name) => `export function ${name}(...given) { return new (${pg}.${name})(...given) }`),
    `export const types = { getTypeParser: (...given) => ${pg}.types.getTypeParser(...given) }`,
  ])
}

function bossLater(load: string): Plugin {
  const boss = `${load}('./pg-boss.cjs')`
  return packageLater('pg-boss', [`export function PgBoss(...given) { return new (${boss}.PgBoss)(...given) }`])
}

/** `lines`: what replaces a package. */
function packageLater(name: string, lines: readonly string[]): Plugin {
  const filter = new RegExp(`^${name}$`)
  return {
    name: `${name}-later`,
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, ({ path }) => ({ path, namespace: 'later' }))
      onLoad({ filter, namespace: 'later' }, () => ({ contents: lines.join('\n') }))
    },
  }
}

/** `later` are the modules that it does not hold itself. */
async function buildHook(name: string, entry: BuildOptions, later = LATER): Promise<void> {
  const options: BuildOptions = {
    ...common,
    ...entry,
    outfile: `dist/${name}.cjs`,
    format: 'cjs',
    minify: true,
    charset: 'utf8',
    external: ['./*.cjs'],
  }
  const plugins = [yamlLater('require'), pgLater('require'), bossLater('require'), loadLater(later, name)]
  const { metafile } = await build({ ...options, plugins, metafile: true, write: false })
  await build({ ...options, plugins: [...plugins, nodeOnce(Object.keys(metafile?.inputs ?? {}))] })
}

/**
 * Requires each part of Node once per bundle and gives its functions short names: what a hook loads must be small.
 * `inputs` are the files of the bundle.
 */
function nodeOnce(inputs: readonly string[]): Plugin {
  const used = new Map<string, Set<string>>()
  for (const file of inputs.filter((path) => /^src.*\.ts$/.test(path)))
    for (const [, names = '', module = ''] of readFileSync(file, 'utf8').matchAll(
      /^import \{([^}]*)\} from '(node:.*)'$/gm,
    ))
      for (const name of names.split(',').map((text) => text.trim().replace(/ as .*/, '')))
        if (name && !name.startsWith('type ')) used.set(module, (used.get(module) ?? new Set()).add(name))
  return {
    name: 'node-once',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:/, namespace: 'file' }, ({ path }) => ({
        path,
        namespace: 'node',
        sideEffects: false,
      }))
      onLoad({ filter: /^node:/, namespace: 'node' }, ({ path }) => ({
        contents: `export const { ${[...(used.get(path) ?? [])].join(', ')} } = require('${path}')`,
      }))
    },
  }
}
