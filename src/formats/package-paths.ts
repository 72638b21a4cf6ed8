/** Where a package.json resolves imports of `#name` and of the package's own name. */
import { isObject, type Json, readJson, valueAt } from './json-file.ts'

/** `key`: its place in package.json; `imported`: the import specifier, up to a star. */
export type PackagePath = { key: readonly string[]; imported: readonly string[] }

/** Original entries that now resolve elsewhere or nowhere. New ones do not affect existing imports. */
export function repointedPaths(before: string, after: string): PackagePath[] {
  const [old, now] = [before, after].map(readManifest)
  if (!old || !now) return []
  const changed = (key: readonly string[]) => JSON.stringify(valueAt(old, key)) !== JSON.stringify(valueAt(now, key))
  return pathsOf(old).filter(({ key }) => changed(key))
}

function readManifest(text: string): Json | undefined {
  const read = readJson(text)
  return 'value' in read && isObject(read.value) ? read.value : undefined
}

function pathsOf({ name, main, imports, exports }: Json): PackagePath[] {
  const own = typeof name === 'string' ? [name] : []
  const upwards = ['"."', "'.'", '".."', "'..'", '"../"', "'../'"] // a folder stands for its main file
  return [
    ...(isObject(imports) ? Object.keys(imports) : []).map((key) => ({ key: ['imports', key], imported: [bare(key)] })),
    ...(isObject(exports) && Object.keys(exports).every((key) => key.startsWith('.'))
      ? Object.keys(exports).map((key) => ({
          key: ['exports', key],
          imported: own.map((one) => bare(one + key.slice(1))),
        }))
      : [{ key: ['exports'], imported: own }]),
    ...(main === undefined ? [] : [{ key: ['main'], imported: [...own, ...upwards] }]),
  ]
}

function bare(specifier: string): string {
  return specifier.replace(/\*.*$/s, '')
}
