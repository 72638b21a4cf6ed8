import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PLACES, type Place } from './agents.ts'
import { applyInstall, applyUninstall, groundOf, openInstallation } from './installation.ts'
import type { Scope, Site, Wanted } from './pieces.ts'
import { type Edit, isChange, planInstall, planUninstall } from './plan.ts'

const OTHERS = {
  model: 'x',
  hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }], stop: [{ command: 'mine' }], AfterAgent: [] },
  packages: ['npm:mine'],
}

const STATES: Readonly<Record<string, string | undefined>> = {
  absent: undefined,
  'an empty file': '',
  'an empty object': '{}',
  'an empty object with a line break': '{ }\n',
  'other hooks': `${JSON.stringify(OTHERS, undefined, 2)}\n`,
  'odd indentation': JSON.stringify(OTHERS, undefined, 7).replace('"x"', ' "x"  '),
  'one line, no line break': JSON.stringify(OTHERS),
  tabs: `${JSON.stringify(OTHERS, undefined, '\t')}\n\n`,
  'Windows line endings': JSON.stringify(OTHERS, undefined, 2).replaceAll('\n', '\r\n'),
  'a byte order mark': `\uFEFF${JSON.stringify(OTHERS, undefined, 2)}\n`,
}

const names = ['loop', 'cancel', 'status', 'help', 'pause', 'resume', 'steer'] as const
const PLUGIN = { 'ralph.js': 'x\n', ...Object.fromEntries(names.map((name) => [`${name}.md`, `About ${name}.\n`])) }

const OURS = /home\/(hook\.sh|package\/plugins\/pi)/

const CASES = Object.entries(PLACES).flatMap(([agent, place]) =>
  (['user', 'project'] as const).map((scope) => ({ agent, place, scope })),
)

function makeSite(scope: Scope): Site & { root: string } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-install-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const name of ['person', 'project']) mkdirSync(join(root, name))
  return {
    root,
    scope,
    home: join(root, "ralph's home"),
    person: join(root, 'person'),
    project: join(root, 'project'),
    env: {},
    read: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : undefined),
    plugin: () => PLUGIN,
  }
}

function open(agent: string, place: Place, site: Site) {
  const folder = place.folder(site)
  const installation = openInstallation(site.home, { agent, scope: site.scope, folder })
  return { installation, folder, ground: groundOf(installation, site.home) }
}

function plan(agent: string, place: Place, site: Site): Edit[] {
  const { ground, folder } = open(agent, place, site)
  return planInstall(place.wanted(site, folder), ground)
}

function install(agent: string, place: Place, site: Site): Edit[] {
  const edits = plan(agent, place, site)
  applyInstall(open(agent, place, site).installation, edits, [])
  return edits.filter(isChange)
}

function uninstall(agent: string, place: Place, site: Site): Edit[] {
  const { installation, ground, folder } = open(agent, place, site)
  const edits = planUninstall(place.wanted(site, folder), place.elsewhere?.(folder) ?? [], ground)
  applyUninstall(installation, edits)
  return edits
}

/** Every path below a folder with its content. */
function snapshot(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    paths.map((path) => {
      const stat = lstatSync(join(folder, path))
      if (stat.isDirectory()) return [path, 'folder']
      const what = stat.isSymbolicLink() ? readlinkSync(join(folder, path)) : readFileSync(join(folder, path), 'latin1')
      return [path, `${stat.mode.toString(8)} ${what}`]
    }),
  )
}

function people({ person, project }: Site): object {
  return { person: snapshot(person), project: snapshot(project) }
}

function settingsOf(place: Place, site: Site): Wanted[] {
  return place.wanted(site, place.folder(site)).filter(({ kind }) => kind === 'settings')
}

function put(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

describe.each(CASES)('$agent, $scope', ({ agent, place, scope }) => {
  test.each(Object.entries(STATES))('%s comes back byte for byte, even after installing twice', (_, text) => {
    const site = makeSite(scope)
    if (text !== undefined) for (const { path } of settingsOf(place, site)) put(path, text, 0o600)
    const before = people(site)
    expect(install(agent, place, site)).not.toEqual([])
    for (const { path } of settingsOf(place, site)) {
      const value = JSON.parse(readFileSync(path, 'utf8').replace('\uFEFF', ''))
      expect(JSON.stringify(value)).toMatch(OURS)
      if (text && text.length > 5)
        expect(value).toMatchObject({ model: 'x', packages: expect.arrayContaining(['npm:mine']) })
    }
    expect(install(agent, place, site)).toEqual([])
    uninstall(agent, place, site)
    expect(people(site)).toEqual(before)
    expect(uninstall(agent, place, site)).toEqual([])
  })

  test('killed after any number of files, it is completed by an install, and undone by an uninstall', () => {
    const site = makeSite(scope)
    for (const { path } of settingsOf(place, site)) put(path, STATES['other hooks'] ?? '')
    const before = people(site)
    const edits = install(agent, place, site)
    const after = people(site)
    for (let written = 0; written < edits.length; written++) {
      const unwritten = edits.slice(written)
      for (const { path, now } of unwritten) {
        if (now) writeFileSync(path, now)
        else rmSync(path, { force: true })
      }
      install(agent, place, site)
      expect(people(site)).toEqual(after)
      for (const { path, now } of unwritten) {
        if (now) writeFileSync(path, now)
        else rmSync(path, { force: true })
      }
      uninstall(agent, place, site)
      expect(people(site)).toEqual(before)
      install(agent, place, site)
    }
  })

  test('what the user changes in the meantime stays', () => {
    const site = makeSite(scope)
    install(agent, place, site)
    const files = settingsOf(place, site)
    for (const { path } of files) {
      const value = JSON.parse(readFileSync(path, 'utf8'))
      put(path, JSON.stringify({ ...value, theme: 'dark', hooks: { ...value.hooks, Other: [{ command: 'theirs' }] } }))
    }
    expect(plan(agent, place, site).filter(isChange)).toEqual([])
    for (const { changed } of uninstall(agent, place, site).filter(({ kind }) => kind === 'settings'))
      expect(changed).toBe(true)
    for (const { path } of files)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
        theme: 'dark',
        hooks: { Other: [{ command: 'theirs' }] },
      })
    for (const { path } of files) expect(readFileSync(path, 'utf8')).not.toMatch(OURS)
  })

  test('is recognized and removed when nothing is recorded', () => {
    const site = makeSite(scope)
    for (const { path } of settingsOf(place, site)) put(path, STATES['other hooks'] ?? '')
    install(agent, place, site)
    rmSync(join(site.home, 'installed'), { recursive: true })
    uninstall(agent, place, site)
    for (const { path } of settingsOf(place, site)) {
      const { version: _, ...value } = JSON.parse(readFileSync(path, 'utf8'))
      const { AfterAgent, ...hooks } = value.hooks // an empty list that was used is removed
      expect({ ...value, hooks }).toEqual({ ...OTHERS, hooks: { Stop: OTHERS.hooks.Stop, stop: OTHERS.hooks.stop } })
      expect(AfterAgent ?? []).toEqual([])
    }
    const rest = Object.keys({ ...snapshot(site.person), ...snapshot(site.project) })
    expect(
      rest.filter((path) => /ralph.*\.(md|js|toml|json)$/.test(path) && !path.endsWith('hooks/ralph.json')),
    ).toEqual([])
  })
})

describe('ralph’s own files', () => {
  const [agent, place] = ['claude', PLACES.claude as Place]
  const commandAt = (site: Site) => join(site.person, '.claude/commands/ralph/loop.md')

  test('a user’s file in the same place is kept and comes back', () => {
    const site = makeSite('user')
    put(commandAt(site), 'My own.\n')
    install(agent, place, site)
    expect(readFileSync(commandAt(site), 'utf8')).toBe('About loop.\n')
    uninstall(agent, place, site)
    expect(readFileSync(commandAt(site), 'utf8')).toBe('My own.\n')
  })

  test('a file that the user changed is left to them, and what it replaced is not lost', () => {
    const site = makeSite('user')
    put(commandAt(site), 'My own.\n')
    install(agent, place, site)
    put(commandAt(site), 'Better.\n')
    expect(uninstall(agent, place, site).filter(({ left }) => left)).toHaveLength(1)
    expect(readFileSync(commandAt(site), 'utf8')).toBe('Better.\n')
    const folder = join(site.home, 'installed', 'kept')
    const copies = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    expect(copies).toContain('My own.\n')
  })

  test('a file that the user changed is replaced by another install, and their version is kept for good', () => {
    const site = makeSite('user')
    install(agent, place, site)
    put(commandAt(site), 'Better.\n')
    install(agent, place, site)
    uninstall(agent, place, site)
    expect(existsSync(commandAt(site))).toBe(false)
    const folder = join(site.home, 'installed', 'kept')
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(['Better.\n'])
  })

  test('newer text replaces older text, and an uninstall still removes it', () => {
    const site = makeSite('user')
    const before = people(site)
    install(agent, place, site)
    const newer = { ...site, plugin: () => ({ ...PLUGIN, 'loop.md': 'Newer.\n' }) }
    expect(install(agent, place, newer).map(({ changed }) => changed)).not.toContain(true)
    expect(readFileSync(commandAt(site), 'utf8')).toBe('Newer.\n')
    uninstall(agent, place, newer)
    expect(people(site)).toEqual(before)
  })

  test('a file that is no longer wanted is removed by the next install', () => {
    const site = makeSite('user')
    install(agent, place, site)
    const { installation, ground, folder } = open(agent, place, site)
    const wanted = place.wanted(site, folder).filter(({ path }) => path !== commandAt(site))
    const memory = new Map([...ground.memory].filter(([path]) => path === commandAt(site)))
    applyInstall(installation, planInstall(wanted, ground), planUninstall([], [], { ...ground, memory }))
    expect(existsSync(commandAt(site))).toBe(false)
    expect(open(agent, place, site).installation.record.files).toHaveLength(wanted.length)
  })
})

describe('Droid reads an event from the file that defines it', () => {
  const place = PLACES.droid as Place

  test.each([
    ['hooks.json', '{"Stop":[{"hooks":[]}]}', ['hooks.json', 'settings.json']],
    ['hooks/hooks.json', '{"Stop":[],"UserPromptSubmit":[]}', ['hooks/hooks.json']],
    ['hooks.json', '{"PreToolUse":[]}', ['settings.json']],
    ['settings.json', '{"hooks":{"Stop":[]}}', ['settings.json']],
  ])('%s with %s', (file, text, used) => {
    const site = makeSite('user')
    const folder = place.folder(site)
    put(join(folder, file), text)
    expect(settingsOf(place, site).map(({ path }) => path)).toEqual(used.map((name) => join(folder, name)))
    const before = people(site)
    install('droid', place, site)
    expect(install('droid', place, site)).toEqual([])
    uninstall('droid', place, site)
    expect(people(site)).toEqual(before)
  })
})

test('another program’s change between the question and the answer is not overwritten', () => {
  const site = makeSite('user')
  const place = PLACES.claude as Place
  const edits = plan('claude', place, site)
  put(join(site.person, '.claude/settings.json'), '{"theme":"dark"}')
  expect(() => applyInstall(open('claude', place, site).installation, edits, [])).toThrow('changed by another program')
  expect(readFileSync(join(site.person, '.claude/settings.json'), 'utf8')).toBe('{"theme":"dark"}')
})
