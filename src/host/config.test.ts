import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadConfig } from './config.ts'
import { temporaryFolder } from './place.test-support.ts'

/** The settings in a folder with these files, for a person with those. */
function load(project: Readonly<Record<string, string>>, person: Readonly<Record<string, string>> = {}): object {
  const [home, dir] = [temporaryFolder(), temporaryFolder()]
  for (const [folder, files] of [[home, person] as const, [dir, project] as const])
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return loadConfig(home, dir)
}

const yaml = (...lines: string[]) => ({ 'config.yaml': ['ralph:', ...lines, ''].join('\n  ') })
const json = (config: object) => ({ 'ralph.config.json': JSON.stringify(config) })

describe('which file wins', () => {
  test('no file means no settings', () => {
    expect(load({})).toEqual({})
  })

  test('the ralph: section of a config.yaml is read', () => {
    expect(load(yaml('max_iterations: 3', 'verify: [npm test]'))).toEqual({ max_iterations: 3, verify: ['npm test'] })
  })

  test.each<
    [story: string, project: Readonly<Record<string, string>>, person: Readonly<Record<string, string>>, is: number]
  >([
    ['the person alone', {}, yaml('max_iterations: 1'), 1],
    [
      'ralph.config.json of the person over config.yaml',
      {},
      { ...yaml('max_iterations: 1'), ...json({ max_iterations: 2 }) },
      2,
    ],
    [
      'config.yaml of the project over ralph.config.json of the person',
      yaml('max_iterations: 3'),
      json({ max_iterations: 2 }),
      3,
    ],
    [
      'ralph.config.json of the project over all',
      { ...yaml('max_iterations: 3'), ...json({ max_iterations: 4 }) },
      { ...yaml('max_iterations: 1'), ...json({ max_iterations: 2 }) },
      4,
    ],
  ])('%s', (_, project, person, is) => {
    expect(load(project, person)).toEqual({ max_iterations: is })
  })

  test('each key on its own, including those of the breaker', () => {
    const project = {
      ...yaml('agent: pi', 'proof: off', 'circuit_breaker: { same_error_limit: 3, cooldown_minutes: 5 }'),
      ...json({ agent: 'codex', circuit_breaker: { same_error_limit: 4 } }),
    }
    const person = json({
      verify: ['make'],
      proof: 'full',
      circuit_breaker: { no_progress_limit: 9, same_error_limit: 9 },
    })
    expect(load(project, person)).toEqual({
      agent: 'codex',
      proof: 'off',
      verify: ['make'],
      circuit_breaker: { no_progress_limit: 9, same_error_limit: 4, cooldown_minutes: 5 },
    })
  })
})

describe('a config.yaml of another program', () => {
  test.each([
    ['with keys of its own', 'server:\n  ralph: 3\n'],
    ['that is not YAML', '{{ template }}\n\t- [\n'],
    ['that only mentions ralph', '# ralph: see below\nnot ralph: 1\n'],
    ['with agents of its own', 'agents: 3\nagent: x\n'],
    ['that is empty', ''],
    ['that is very large', 'x: 1\n'.repeat(300_000)],
  ])('%s is left alone', (_, text) => {
    expect(load({ 'config.yaml': text })).toEqual({})
  })

  test('may have a section for ralph; its other keys are ignored', () => {
    expect(load({ 'config.yaml': 'agents: 3\nagent: x\nralph:\n  max_iterations: 3\n' })).toEqual({ max_iterations: 3 })
  })

  test('may be a folder', () => {
    const dir = temporaryFolder()
    mkdirSync(join(dir, 'config.yaml'))
    expect(loadConfig(temporaryFolder(), dir)).toEqual({})
  })
})

test.each([
  'ralph:\n  max_iteration: 3\n',
  '\uFEFFralph:\r\n  max_iteration: 3\r\n',
  '"ralph" :\n  max_iteration: 3\n',
])('%j is reported with its path and line', (text) => {
  const dir = temporaryFolder()
  writeFileSync(join(dir, 'config.yaml'), text)
  expect(() => loadConfig(temporaryFolder(), dir)).toThrow(
    `${join(dir, 'config.yaml')}:2:3: ralph.max_iteration is unknown; did you mean "max_iterations"?`,
  )
})

test.skipIf(process.getuid?.() === 0)(
  'an unreadable file is reported: its limits would be lost (root may read everything)',
  () => {
    const dir = temporaryFolder()
    writeFileSync(join(dir, 'config.yaml'), 'ralph:\n')
    chmodSync(join(dir, 'config.yaml'), 0)
    expect(() => loadConfig(temporaryFolder(), dir)).toThrow(
      `The config file ${join(dir, 'config.yaml')} cannot be read.`,
    )
  },
)
