/** Imports of tests that package.json now points to other files than at the start. */
import { findMeans, type Means, type Proving } from '../formats/means.ts'
import { repointedPaths } from '../formats/package-paths.ts'
import type { State } from './means.ts'

/** A change that redirects them also counts, in each package.json among `paths`. */
export async function addRepointed(
  old: State,
  present: State,
  asked: Proving,
  { paths, means }: { paths: ReadonlySet<string>; means: Map<string, Means> },
): Promise<void> {
  for (const path of paths) {
    const known = means.get(path)
    if (!/(^|\/)package\.json$/.test(path) || !known || known.part === 'whole' || known.part.kind !== 'json') continue
    const changed = repointedPaths((await old.read(path)) ?? '', (await present.read(path)) ?? '')
    if (changed.length === 0) continue
    const tests = [...(await findMeans(old, asked)).keys()].filter((one) => /\.[cm]?[jt]sx?$/.test(one))
    const texts = await old.readAll(tests)
    const used = changed.filter(({ imported }) => texts.some((text) => imported.some((name) => text.includes(name))))
    const keys = [...known.part.keys, ...used.map(({ key }) => key)]
    means.set(path, { ...known, part: { kind: 'json', keys } })
  }
}
