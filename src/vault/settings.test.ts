import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Config } from '../formats/config.ts'
import { wrapPrompt } from '../formats/wrapped-prompt.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { openStore } from '../host/sqlite.ts'
import { resolveSettings, type VaultSettings } from './settings.ts'
import { openVault } from './vault.test-support.ts'

const DEFAULTS: VaultSettings = {
  maxIterations: 10,
  timeoutMinutes: 30,
  stateDir: 'Ralph_State',
  doneFolder: 'Done',
  checkIntervalSeconds: 5,
  quietSeconds: 1.5,
}

type Story = {
  given?: { [Name in keyof VaultSettings]?: unknown }
  env?: Record<string, string>
  config?: Config
  person?: Config
}

/** A vault and a home with these config files. */
function settle(
  { given = {}, env = {}, config, person }: Story,
  vault = temporaryFolder(),
  home = temporaryFolder(),
): VaultSettings {
  if (config) writeFileSync(join(vault, 'ralph.config.json'), JSON.stringify(config))
  if (person) writeFileSync(join(home, 'ralph.config.json'), JSON.stringify(person))
  return resolveSettings(given as Partial<VaultSettings>, { env, home, vault })
}

describe('where a setting comes from', () => {
  const person: Config = {
    max_iterations: 1,
    timeout_minutes: 1,
    check_interval_seconds: 1,
    quiet_seconds: 1,
    state_dir: 's1',
    done_folder: 'd1',
  }
  const config: Config = {
    max_iterations: 2,
    timeout_minutes: 2,
    check_interval_seconds: 2,
    quiet_seconds: 2,
    state_dir: 's2',
    done_folder: 'd2',
  }
  const env = {
    RALPH_MAX_ITERATIONS: '3',
    RALPH_TIMEOUT_MINUTES: '3',
    RALPH_CHECK_INTERVAL_SECONDS: '3',
    RALPH_QUIET_SECONDS: '3',
    RALPH_STATE_DIR: 's3',
    RALPH_DONE_FOLDER: 'd3',
  }
  const given = settings(4)

  test.each<[what: string, story: Story, settings: VaultSettings]>([
    ['nothing is said', {}, DEFAULTS],
    ['the person says it', { person }, settings(1)],
    ['the vault beats the person', { person, config }, settings(2)],
    ['the environment beats the vault', { person, config, env }, settings(3)],
    ['the caller beats all', { person, config, env, given }, settings(4)],
    ['each on its own', { config: { max_iterations: 7 }, person }, { ...settings(1), maxIterations: 7 }],
    [
      'empty variables say nothing',
      { config, env: Object.fromEntries(Object.keys(env).map((name) => [name, ''])) },
      settings(2),
    ],
    ['what is undefined says nothing', { config, given: { maxIterations: undefined } }, settings(2)],
  ])('%s', (_, story, expected) => {
    expect(settle(story)).toEqual(expected)
  })

  function settings(number: number): VaultSettings {
    return {
      maxIterations: number,
      timeoutMinutes: number,
      checkIntervalSeconds: number,
      quietSeconds: number,
      stateDir: `s${number}`,
      doneFolder: `d${number}`,
    }
  }
})

test.each<[what: string, story: Story, change: Partial<VaultSettings>]>([
  ['the proof of the person', { person: { require: 'kept' } }, { proof: { require: 'kept' } }],
  [
    'the proof of the vault, key by key',
    { config: { proof: 'seal', agent: 'x' }, person: { require: 'kept', proof: 'off' } },
    { proof: { proof: 'seal', require: 'kept' } },
  ],
  ['auto of the person', { person: { max_iterations: 'auto' } }, {}],
  ['auto of the vault', { config: { max_iterations: 'auto' }, person: { max_iterations: 7 } }, {}],
  [
    'a number of the vault',
    { config: { max_iterations: 7 }, person: { max_iterations: 'auto' } },
    { maxIterations: 7 },
  ],
  ['a folder of that name', { config: { state_dir: 'auto' } }, { stateDir: 'auto' }],
  ['part of a minute', { env: { RALPH_TIMEOUT_MINUTES: '.05' } }, { timeoutMinutes: 0.05 }],
  ['a year', { given: { timeoutMinutes: 525_600 } }, { timeoutMinutes: 525_600 }],
  ['blanks around a number', { env: { RALPH_MAX_ITERATIONS: ' 5 ' } }, { maxIterations: 5 }],
  ['often', { given: { checkIntervalSeconds: 0.1 } }, { checkIntervalSeconds: 0.1 }],
  ['seldom', { config: { check_interval_seconds: 3_600 } }, { checkIntervalSeconds: 3_600 }],
  ['a short rest', { config: { quiet_seconds: 0.1 } }, { quietSeconds: 0.1 }],
  ['a folder in a folder', { given: { doneFolder: './Archive//Done/' } }, { doneFolder: 'Archive/Done' }],
  ['a way out and in again', { given: { doneFolder: 'x/../Finished' } }, { doneFolder: 'Finished' }],
  ['a name that begins with dots', { given: { stateDir: '..state' } }, { stateDir: '..state' }],
])('%s is taken', (_, story, change) => {
  expect(settle(story)).toEqual({ ...DEFAULTS, ...change })
})

describe('an absolute folder', () => {
  test('in the vault is named from there', () => {
    const vault = temporaryFolder()
    expect(settle({ env: { RALPH_DONE_FOLDER: join(vault, 'Done') } }, vault).doneFolder).toBe('Done')
  })

  test('in the vault may be reached by a link to the vault', () => {
    const [vault, link] = [temporaryFolder(), join(temporaryFolder(), 'Vault')]
    symlinkSync(vault, link)
    expect(settle({ given: { doneFolder: join(link, 'a', 'Done') } }, vault).doneFolder).toBe('a/Done')
  })

  test('next to the vault is refused, even if its name starts the same', () => {
    const vault = temporaryFolder()
    mkdirSync(`${vault}/inner`)
    expect(() => settle({ given: { doneFolder: `${vault}/inner2` } }, `${vault}/inner`)).toThrow(
      `doneFolder must be a folder inside the vault ${vault}/inner, got `,
    )
  })
})

const ITERATIONS = 'must be a whole number above 0 (a vault needs a number)'
const MINUTES = 'must be a number of minutes above 0, at most 525600'
const SECONDS = 'must be a number of seconds from 0.1 to 3600'

test.each<[story: Story, code: string, says: string]>([
  [{ given: { maxIterations: 0 } }, 'usage', `maxIterations ${ITERATIONS}, got 0.`],
  [{ given: { maxIterations: 1.5 } }, 'usage', `maxIterations ${ITERATIONS}, got 1.5.`],
  [{ given: { maxIterations: '5' } }, 'usage', `maxIterations ${ITERATIONS}, got "5".`],
  [{ given: { maxIterations: null } }, 'usage', `maxIterations ${ITERATIONS}, got null.`],
  [{ env: { RALPH_MAX_ITERATIONS: 'auto' } }, 'usage', `RALPH_MAX_ITERATIONS ${ITERATIONS}, got "auto".`],
  [{ env: { RALPH_MAX_ITERATIONS: '1e3' } }, 'usage', `RALPH_MAX_ITERATIONS ${ITERATIONS}, got "1e3".`],
  [{ env: { RALPH_MAX_ITERATIONS: '-1' } }, 'usage', `RALPH_MAX_ITERATIONS ${ITERATIONS}, got "-1".`],
  [{ person: { max_iterations: 0 } }, 'input-invalid', `/ralph.config.json ${ITERATIONS}, got 0.`],
  [{ given: { timeoutMinutes: Number.NaN } }, 'usage', `timeoutMinutes ${MINUTES}`],
  [{ given: { timeoutMinutes: 525_601 } }, 'usage', `timeoutMinutes ${MINUTES}, got 525601.`],
  [{ env: { RALPH_TIMEOUT_MINUTES: '30m' } }, 'usage', `RALPH_TIMEOUT_MINUTES ${MINUTES}, got "30m".`],
  [{ config: { timeout_minutes: 0 } }, 'input-invalid', `/ralph.config.json ${MINUTES}, got 0.`],
  [{ given: { quietSeconds: 0 } }, 'usage', `quietSeconds ${SECONDS}, got 0.`],
  [{ given: { checkIntervalSeconds: 0.09 } }, 'usage', `checkIntervalSeconds ${SECONDS}, got 0.09.`],
  [{ env: { RALPH_CHECK_INTERVAL_SECONDS: '3601' } }, 'usage', `RALPH_CHECK_INTERVAL_SECONDS ${SECONDS}`],
  [{ given: { stateDir: '' } }, 'usage', 'stateDir must be the name of a folder, got "".'],
  [{ given: { stateDir: 3 } }, 'usage', 'stateDir must be the name of a folder, got 3.'],
  [{ env: { RALPH_STATE_DIR: '  ' } }, 'usage', 'RALPH_STATE_DIR must be the name of a folder, got "  ".'],
  [{ given: { doneFolder: 'Do\nne' } }, 'usage', 'doneFolder must be the name of a folder, got "Do\\nne".'],
  [{ given: { doneFolder: '.' } }, 'usage', 'doneFolder must be a folder inside the vault '],
  [{ given: { doneFolder: '..' } }, 'usage', 'doneFolder must be a folder inside the vault '],
  [{ env: { RALPH_DONE_FOLDER: '/Done' } }, 'usage', 'RALPH_DONE_FOLDER must be a folder inside the vault '],
  [{ config: { state_dir: '../x' } }, 'input-invalid', '/ralph.config.json must be a folder inside the '],
  [{ config: { done_folder: '' } }, 'input-invalid', '/ralph.config.json must be the name of a folder'],
  [
    { given: { doneFolder: 'Needs_Action' } },
    'usage',
    'doneFolder must be a separate folder, not one of Needs_Action, Pending_Approval, Failed, got "Needs_Action".',
  ],
  [{ given: { stateDir: './Done' } }, 'usage', 'stateDir must be a different folder from done_folder, got "./Done".'],
  [
    { given: { doneFolder: 'x' }, env: { RALPH_STATE_DIR: 'x/' } },
    'usage',
    'doneFolder must be a different folder from RALPH_STATE_DIR, got "x".',
  ],
])('%j is refused by name and source', (story, code, says) => {
  expect(() => settle(story)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }))
})

test.each(['person', 'config'] as const)('a mistake in a %s file is reported with its path', (whose) => {
  const [vault, home] = [temporaryFolder(), temporaryFolder()]
  const path = join(whose === 'person' ? home : vault, 'ralph.config.json')
  expect(() => settle({ [whose]: { timeout_minutes: 0 } }, vault, home)).toThrow(
    `timeout_minutes of ${path} ${MINUTES}`,
  )
})

test('config.yaml sets the same as ralph.config.json, which overrides it', () => {
  const [vault, home] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(vault, 'config.yaml'), 'ralph:\n  max_iterations: 3\n  timeout_minutes: 4\n')
  writeFileSync(join(home, 'config.yaml'), 'ralph:\n  max_iterations: 5\n  require: kept\n')
  const settled = settle({ config: { timeout_minutes: 6 }, person: { max_iterations: 7 } }, vault, home)
  expect(settled).toEqual({ ...DEFAULTS, maxIterations: 3, timeoutMinutes: 6, proof: { require: 'kept' } })
  writeFileSync(join(vault, 'config.yaml'), 'ralph:\n  max_iterations: 0\n')
  expect(() => settle({}, vault, home)).toThrow(`max_iterations of ${join(vault, 'config.yaml')} ${ITERATIONS}`)
})

test.each<[what: string, head: string, given: { max_iterations?: number }, limit: number]>([
  ['beats the options of the constructor', '', {}, 4],
  ['is beaten by the head of the file', '---\nmax_iterations: 5\n---\n', {}, 5],
  ['is beaten by the call', '---\nmax_iterations: 5\n---\n', { max_iterations: 6 }, 6],
])('the maximum in a wrapped prompt %s', async (_, head, given, limit) => {
  const vault = openVault([], { maxIterations: 7 })
  vault.put('Needs_Action/a.md', `${head}${wrapPrompt('Do it.', { maxIterations: 4 })}`)
  await vault.ralph.startTask({ task_file: 'Needs_Action/a.md', ...given })
  expect(await vault.ralph.getTaskState('a')).toMatchObject({ max_iterations: limit })
  const store = openStore(vault.home, Date.now)
  const [loop] = (await store.list({})).rows
  expect((await store.load(loop?.id ?? '')).spec.prompt).toContain('Do it.')
  expect((await store.load(loop?.id ?? '')).spec.prompt).not.toContain('<promise>')
  await store.close()
})
