/** Modules that the hook program loads when one of their functions is first called: in the sources they are imported like any other. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BuildOptions, Plugin } from 'esbuild'

/** The name of each such bundle, and the modules it is made of. */
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

/** Types vanish when they are built. Anything else but a function would have to be there before it is called. */
export function functionsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^export (?!type |interface )(.*)/gm)].map(([line, what = '']) => {
    const [, name] = /^(?:async )?function\*? ?(\w+)/.exec(what) ?? []
    if (!name) throw new Error(`${file} is loaded later, so it can export functions and types alone. Found: ${line}`)
    return name
  })
}
