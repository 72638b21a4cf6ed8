/** Builds dist/: the command line, the programs ralph starts, and the library. */
import { readFileSync, rmSync } from 'node:fs'
import { build, transformSync } from 'esbuild'

rmSync('dist', { recursive: true, force: true })
const common = { bundle: true, platform: 'node', target: 'node22', logLevel: 'warning' } as const
await Promise.all([
  build({
    ...common,
    entryPoints: { cli: 'src/fronts/cli/main.ts' },
    outdir: 'dist',
    format: 'cjs',
    define: { 'import.meta.dirname': '__dirname' },
    outExtension: { '.js': '.cjs' },
  }),
  build({
    ...common,
    entryPoints: { hook: 'src/fronts/hook/main.ts', 'hook-more': 'src/fronts/hook/more.ts' },
    outdir: 'dist',
    format: 'cjs',
    minify: true,
    charset: 'utf8',
    external: ['./hook-more.cjs'],
    banner: {
      js: transformSync(readFileSync('src/fronts/hook/old-node.cjs', 'utf8'), { minify: true, target: 'node16' }).code,
    },
    outExtension: { '.js': '.cjs' },
  }),
  build({
    ...common,
    entryPoints: { 'scripted-agent': 'src/host/scripted-agent.ts' },
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
  build({ ...common, entryPoints: { index: 'src/index.ts' }, outdir: 'dist', format: 'esm' }),
])
