import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { expect, test } from 'vitest'

const BELOW = ['error.ts', 'engine/', 'formats/', 'agents/', 'prompt/', 'host/']

/** Who may use whom. A place may always use itself; what is not named here has no place yet. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  'error.ts': [],
  'engine/': [],
  'formats/': ['error.ts', 'engine/'],
  'agents/': ['error.ts', 'engine/', 'formats/'],
  'prompt/': ['error.ts', 'engine/', 'formats/'],
  'host/': ['error.ts', 'engine/', 'formats/', 'agents/', 'prompt/'],
  'drive/': BELOW,
  'project/': [...BELOW, 'drive/'],
  'session/': [...BELOW, 'drive/'],
  'vault/': [...BELOW, 'drive/'],
  'install/': [...BELOW, 'session/'],
  'index.ts': [...BELOW, 'drive/', 'project/', 'vault/'],
  'fronts/': [...BELOW, 'drive/', 'project/', 'session/', 'vault/', 'install/'],
}

const PURE = ['engine/', 'formats/', 'agents/', 'prompt/']

/** Clock, chance, files, processes and network: a pure folder is given them, it never takes them. */
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

test('nothing is used against the direction', () => {
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

test('pure folders take neither time nor chance nor anything else from the machine', () => {
  const takes = files
    .filter(({ file }) => PURE.includes(placeOf(file) ?? ''))
    .flatMap(({ file, text }) => [...text.matchAll(TAKEN)].map(([what]) => `${file} takes ${what}`))
  expect(takes).toEqual([])
})

function placeOf(file: string): string | undefined {
  const place = file.includes('/') ? file.slice(0, file.indexOf('/') + 1) : file
  return Object.keys(MAY_USE).find((name) => name.split(' ').includes(place))
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/ .*$/gm, '')
}
