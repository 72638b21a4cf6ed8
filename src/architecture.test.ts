import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const BELOW = ['error.ts', 'engine/', 'analytics/', 'formats/', 'agents/', 'prompt/', 'host/']

const OWNERS = ['project/', 'session/', 'vault/', 'dispatch/', 'board/', 'fleet/']

/** Which folder may use which. A folder may always use itself; what is not listed has no place yet. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'error.ts': [],
  'engine/': [],
  'analytics/': ['engine/'],
  'formats/': ['error.ts', 'engine/', 'analytics/'],
  'agents/': ['error.ts', 'engine/', 'formats/'],
  'prompt/': ['error.ts', 'engine/', 'formats/'],
  'host/': ['error.ts', 'engine/', 'analytics/', 'formats/', 'agents/', 'prompt/'],
  'request/': BELOW,
  'drive/': BELOW,
  'project/': [...BELOW, 'request/', 'drive/'],
  'session/': [...BELOW, 'request/', 'drive/'],
  'vault/': [...BELOW, 'request/', 'drive/'],
  'dispatch/': [...BELOW, 'request/', 'drive/'],
  'board/': [...BELOW, 'request/', 'drive/'],
  'fleet/': [...BELOW, 'request/', 'drive/'],
  'install/': [...BELOW, 'session/'],
  'operations/': [...BELOW, 'request/', 'drive/', ...OWNERS],
  'index.ts': [...BELOW, 'request/', 'drive/', ...OWNERS, 'operations/'],
  'fronts/server/': [...BELOW, 'request/', 'operations/'],
  'fronts/cli/': [...BELOW, 'request/', 'drive/', 'operations/', 'install/'],
  // What lives in a session is its own front: it works without operations, except for tasks of vaults.
  'fronts/hook/': [...BELOW, 'drive/', 'session/', 'operations/'],
  'fronts/pi/': [...BELOW, 'session/'],
}

const PURE = ['engine/', 'analytics/', 'formats/', 'agents/', 'prompt/']

/** Clock, randomness, files, processes and network: a pure folder receives them, it never takes them. */
const TAKEN =
  /'node:[^']*'|\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\brandomUUID\b|\bperformance\.|\bfetch\(|\bprocess\.\w+|\bset(?:Timeout|Interval)\b/g

const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.ts$/.test(file) && !/\.(test|test-support)\.ts$|store-contract\//.test(file))
  .map((file) => ({ file, text: withoutComments(readFileSync(join(import.meta.dirname, file), 'utf8')) }))

const imports = files.flatMap(({ file, text }) =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map(([, path = '']) => ({
    file,
    used: normalize(join(file, '..', path)),
  })),
)

test('every file has a place', () => {
  expect(files.map(({ file }) => file).filter((file) => !placeOf(file))).toEqual([])
})

test('no import goes against the direction', () => {
  const wrong = imports.filter(({ file, used }) => {
    const [from = '', to = ''] = [placeOf(file), placeOf(used)]
    return from !== to && !MAY_USE[from]?.includes(to)
  })
  expect(wrong.map(({ file, used }) => `${file} uses ${used}`)).toEqual([])
})

test('no agent uses another, and no front another', () => {
  const isAgent = (path: string) => imports.some(({ file, used }) => file === 'agents/index.ts' && used === path)
  const sideways = imports.filter(({ file, used }) => {
    const [place, front] = file.split('/')
    if (place === 'agents') return file !== 'agents/index.ts' && used !== 'agents/agent.ts' && isAgent(used)
    return place === 'fronts' && used.startsWith('fronts/') && used.split('/')[1] !== front
  })
  expect(sideways.map(({ file, used }) => `${file} uses ${used}`)).toEqual([])
})

/**
 * What moves a loop: drive/, and owners that ask the engine before they write. Everything else brings facts to a visit.
 */
const MAY_STEP = ['drive/drive.ts', 'drive/refusals.ts', 'drive/visit.ts', 'project/task.ts']

test('only drive and owners ask the engine for the next step', () => {
  const steps = imports.filter(({ file, used }) => used === 'engine/step.ts' && placeOf(file) !== 'engine/')
  expect(steps.map(({ file }) => file).sort()).toEqual([...MAY_STEP, 'index.ts'].sort())
})

test('the deciding parts are used only inside the engine', () => {
  const parts = imports.filter(
    ({ file, used }) =>
      /^engine\/(moves|cooldown|continue-loop|conclude)\.ts$/.test(used) && placeOf(file) !== 'engine/',
  )
  expect(parts).toEqual([])
})

test('only code that takes outside input loads the schemas of operations', () => {
  const checked = (file: string) =>
    /^(?:operations\/(?:call|library|input-error|.*schema\S*)|fronts\/server\/.*)\.ts$/.test(file)
  const load = imports.filter(({ file, used }) => checked(used) && !checked(file))
  expect(load.map(({ file, used }) => `${file} uses ${used}`)).toEqual([])
  const zod = files.filter(({ file, text }) => /from 'zod'/.test(text) && !checked(file))
  expect(zod.map(({ file }) => file)).toEqual([])
})

test('pure folders take neither time nor randomness nor anything else from the machine', () => {
  const takes = files
    .filter(({ file }) => PURE.includes(placeOf(file) ?? ''))
    .flatMap(({ file, text }) => [...text.matchAll(TAKEN)].map(([what]) => `${file} takes ${what}`))
  expect(takes).toEqual([])
})

/** Who may write to the terminal itself: the one writer, and a line editor with its paste mode. */
const MAY_WRITE = ['fronts/cli/text.ts', 'fronts/cli/dispatch-prompt.ts', 'fronts/cli/dispatch-pastes.ts']

test('the command line writes through one writer, which makes foreign text harmless', () => {
  const cli = files.filter(({ file }) => file.startsWith('fronts/cli/') && !file.startsWith('fronts/cli/demo/'))
  const found = (pattern: RegExp) => cli.filter(({ text }) => pattern.test(text)).map(({ file }) => file)
  const writes = found(/\bprocess\.std(?:out|err)|\bconsole\.|\bmachine\.stdout|\bstd(?:out|err)\.write|\bwriteSync\(/)
  expect(writes.filter((file) => !MAY_WRITE.includes(file))).toEqual([])
  // A control character inside text would be removed from it; unescaped JSON would lose characters.
  expect(found(/\\u001b|\\x1b|\\u0007|\\x07/).filter((file) => !MAY_WRITE.includes(file))).toEqual([])
  expect(found(/JSON\.stringify\([^)]*\)+\}?\\n/)).toEqual([])
})

function placeOf(file: string): string | undefined {
  const [folder = '', front] = file.split('/')
  const place = folder === 'fronts' ? `fronts/${front}/` : front === undefined ? folder : `${folder}/`
  return Object.hasOwn(MAY_USE, place) ? place : undefined
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '')
}
