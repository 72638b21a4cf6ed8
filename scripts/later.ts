/** Modules that the hook program loads on the first call of one of their functions; the sources import them like any other. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'

/** The name of each such bundle, and its modules. */
export type Later = Readonly<Record<string, readonly string[]>>

/** What a bundle of `later` is built from. */
export function entryOf(later: Later, bundle: string): BuildOptions {
  const contents = (later[bundle] ?? []).map((file) => `export { ${functionsOf(file).join(', ')} } from './${file}'`)
  return { stdin: { contents: contents.join('\n'), resolveDir: '.' } }
}

/** For every program but `bundle` itself, an import of its modules becomes functions that load it when they are called. */
export function loadLater(later: Later, bundle: string): Plugin {
  const others = Object.entries(later).filter(([name]) => name !== bundle)
  const bundleOf = new Map(others.flatMap(([name, files]) => files.map((file) => [resolve(file), name] as const)))
  return {
    name: 'load-later',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir }) => {
        const file = resolve(resolveDir, path)
        return bundleOf.has(file) ? { path: file, namespace: 'load-later', sideEffects: false } : undefined
      })
      onLoad({ filter: /./, namespace: 'load-later' }, ({ path }) => ({
        contents: functionsOf(path)
          .map(
            (name) => `export const ${name} = (...given) => require('./${bundleOf.get(path)}.cjs').${name}(...given)`,
          )
          .join('\n'),
      }))
    },
  }
}

/** Types vanish in the build. Anything but a function would have to be loaded before it is used. */
export function functionsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^export (?!type |interface )(.*)/gm)].map(([line, what = '']) => {
    const [, name] = /^(?:async )?function\*? ?(\w+)/.exec(what) ?? []
    if (!name) throw new Error(`${file} is loaded later, so it can only export functions and types. Found: ${line}`)
    return name
  })
}
