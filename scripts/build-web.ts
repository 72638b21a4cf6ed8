/** Builds dist/web/: the board with hashed names and packed copies, and the script and style of a report. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type InlineConfig, type Plugin } from 'vite'

const OUT = 'dist/web'

const common: InlineConfig = {
  configFile: false,
  root: 'web',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

export async function buildWeb(): Promise<void> {
  await build({
    ...common,
    plugins: [plainImports()],
    build: {
      outDir: `../${OUT}`,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: false,
      assetsInlineLimit: 0,
      reportCompressedSize: false,
    },
  })
  // A report is a single file, so its script must be one as well: there is no address to load more from.
  await build({
    ...common,
    publicDir: false,
    build: {
      outDir: `../${OUT}`,
      emptyOutDir: false,
      target: 'es2022',
      cssCodeSplit: false,
      reportCompressedSize: false,
      lib: {
        entry: 'report.tsx',
        formats: ['iife'],
        name: 'report',
        fileName: () => 'report.js',
        cssFileName: 'report',
      },
    },
  })
  for (const file of readdirSync(OUT, { recursive: true, encoding: 'utf8' }))
    if (/\.(js|css|html|svg|webmanifest)$/.test(file) && !file.startsWith('report.')) pack(join(OUT, file))
}

/** A lazily loaded screen needs no more styles or scripts than those already loaded: Vite's own loader would be a wasted 1 KB. */
function plainImports(): Plugin {
  return {
    name: 'plain-imports',
    enforce: 'pre',
    load: (id) => (id.endsWith('vite/preload-helper.js') ? 'export const __vitePreload = (load) => load()' : undefined),
  }
}

function pack(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, options))
}
