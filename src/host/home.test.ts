import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { secureHome, whatToDoWith } from './home.ts'
import { temporaryFolder } from './place.test-support.ts'
import { openStore } from './sqlite.ts'

function homeWith(mode: number, ...files: string[]): string {
  const home = join(temporaryFolder(), 'home')
  mkdirSync(home)
  for (const file of files) writeFileSync(join(home, file), '')
  chmodSync(home, mode)
  return home
}

function opened(home: string): string[] {
  const notes: string[] = []
  const store = openStore(home, Date.now, { note: (text) => notes.push(text) })
  onTestFinished(() => store.close())
  return notes
}

const modeOf = (path: string) => statSync(path).mode & 0o7777

test.each([0o777, 0o770, 0o722, 0o707, 0o1777])(
  'a home with mode %o is closed to others, and that is reported once',
  (mode) => {
    const home = homeWith(mode)
    expect(opened(home)).toEqual([
      `Other users of this machine could write to ${home}, so its permissions are now 700: whoever can write there controls what ralph runs.`,
    ])
    expect(modeOf(home)).toBe(0o700)
    expect(opened(home)).toEqual([])
  },
)

test.each([0o700, 0o755, 0o711, 0o500])('a home with mode %o stays as it is', (mode) => {
  const home = homeWith(0o700)
  opened(home)
  chmodSync(home, mode)
  expect(opened(home)).toEqual([])
  expect(modeOf(home)).toBe(mode)
})

test("a home with other people's files in it only loses write access for others", () => {
  const home = homeWith(0o775, 'index.html')
  expect(opened(home)).toEqual([expect.stringContaining('its permissions are now 755')])
  expect(modeOf(home)).toBe(0o755)
})

test('a home that is shared by all users is refused, and nothing is written there', () => {
  const home = homeWith(0o1777, 'somebody.sock', 'ralph.db')
  expect(() => openStore(home, Date.now)).toThrow(
    expect.objectContaining({
      code: 'home-unusable',
      message: `${home} is shared by all users of this machine. Set RALPH_HOME to a folder of your own.`,
    }),
  )
  expect(readdirSync(home)).toEqual(['ralph.db', 'somebody.sock'])
})

test('what ralph stores is private to its owner', async () => {
  const home = homeWith(0o755)
  const store = openStore(home, Date.now)
  onTestFinished(() => store.close())
  for (const name of ['locks', 'transcripts']) expect(modeOf(join(home, name))).toBe(0o700)
  for (const name of readdirSync(home).filter((one) => one.startsWith('ralph.db')))
    expect(modeOf(join(home, name))).toBe(0o600)
})

test('a database that others may write is closed to them as well', () => {
  const home = homeWith(0o755, 'ralph.db')
  chmodSync(join(home, 'ralph.db'), 0o666)
  opened(home)
  expect(modeOf(join(home, 'ralph.db'))).toBe(0o600)
})

const [ME, OTHER, ROOT] = [1000, 1001, 0]

test.each<[mode: number, owner: number, who: number | undefined, what: string]>([
  [0o700, ME, ME, 'nothing'],
  [0o755, ME, ME, 'nothing'],
  [0o775, ME, ME, 'close'],
  [0o777, ME, ME, 'close'],
  [0o1777, ME, ME, 'refuse shared'],
  [0o700, OTHER, ME, 'refuse other'],
  [0o777, OTHER, ME, 'refuse other'],
  [0o755, ROOT, ME, 'refuse other'],
  // root can do all of it anyway: sudo, or a container into which somebody's folder is mounted.
  [0o700, ME, ROOT, 'nothing'],
  [0o777, ME, ROOT, 'close'],
  [0o1777, ROOT, ROOT, 'refuse shared'],
  // A system without such permissions.
  [0o777, 0, undefined, 'nothing'],
])('mode %o of user %i, seen by user %s: %s', (mode, uid, who, what) => {
  expect(whatToDoWith({ mode, uid }, who, false)).toBe(what)
})

test('a home of another user is refused', () => {
  const home = homeWith(0o777)
  const { uid } = statSync(home)
  expect(() => secureHome(home, () => {}, uid + 1)).toThrow(
    `${home} belongs to another user of this machine, who could control what ralph runs. Set RALPH_HOME to a folder of your own.`,
  )
  if (uid === 0) {
    chownSync(home, 12_345, 12_345)
    expect(opened(home)).toHaveLength(1) // root may
    expect(statSync(home).uid).toBe(12_345)
  }
})
