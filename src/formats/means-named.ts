/** Whether a file given to a test runner by name contains tests, or tests together with the work. */
import type { Files, Part } from './means.ts'
import { folderOf } from './means-paths.ts'

/**
 * For names that do not say so; a test by name counts as a whole. Undefined: it contains no tests. Unless something shows
 * that it is only tests, it may contain work.
 */
export function namedPart(
  path: string,
  text: string,
  { files, runner }: { files: Files; runner: string },
): Part | undefined {
  if (/\.(rst|txt|md)$/.test(path)) return { kind: 'examples' }
  // These take such names as filters: `jest --findRelatedTests src/a.js`.
  if (/^(vitest|jest)$/.test(runner) && !CALLS.test(text)) return undefined
  if (/^(pytest|py\.test)$/.test(runner) && !COLLECTED.test(text)) return { kind: 'examples' }
  return LIKE_TESTS.test(path) && !/^export\b|\bmodule\.exports\b/m.test(text) && usesOthers(path, text, files)
    ? 'whole'
    : { kind: 'mixed' }
}

const CALLS = /\b(?:test|it|describe|suite)\b(?:\.\w+)*\s*\(|\bimport\.meta\.vitest\b/
const COLLECTED = /\b(?:test|Test)|\bassert\b|^[ \t]*(?:from|import)[ \t]+(?:pytest|unittest)\b/m
const LIKE_TESTS = /(^|[^a-z])(tests?|checks?|verif\w*|specs?|e2e|smoke|suites?|cases|acceptance)([^a-z]|$)/i

/** Files with only tests import the work from other files. */
function usesOthers(path: string, text: string, { paths }: Files): boolean {
  if (!path.endsWith('.py')) return /(?:\bfrom|\bimport|\brequire(?:_relative)?)\s*\(?\s*['"]\.{1,2}\//.test(text)
  const folders = [folderOf(path), '', 'src'].map((folder) => (folder === '' ? '' : `${folder}/`))
  return [...text.matchAll(/^[ \t]*(?:from|import)[ \t]+(\w+)/gm)].some(([, name]) =>
    folders.some((folder) => paths.has(`${folder}${name}.py`) || paths.has(`${folder}${name}/__init__.py`)),
  )
}
