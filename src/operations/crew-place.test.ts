import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../host/place.test-support.ts'
import { crewAgent, holdCrew, leaveCrew, paneRecord } from './crew.test-support.ts'
import { findAgent, findCrew, readCrew } from './crew-place.ts'
import { type OperationPlace, openPlace } from './place.test-support.ts'

/** A subfolder whose config file was started once. */
async function crewIn({ cwd, context }: OperationPlace, name: string, ...agents: string[]) {
  const dir = join(cwd, name)
  mkdirSync(dir)
  const records = agents.map((agent, index) => paneRecord(crewAgent(agent, index + 1)))
  return leaveCrew(context, dir, records)
}

describe('which dispatcher', () => {
  test('the one whose config file is named, by whatever path', async () => {
    const place = openPlace()
    const [one] = [await crewIn(place, 'one', 'api'), await crewIn(place, 'two', 'web')]
    for (const config of ['one/config.yaml', one.config, 'two/../one/config.yaml'])
      expect(await findCrew(place.context, { config })).toMatchObject({ ...one, running: false })
  })

  test('the one of this folder, else the only one', async () => {
    const place = openPlace()
    const one = await crewIn(place, 'one', 'api')
    expect((await findCrew(place.context, {})).id).toBe(one.id)
    const two = await crewIn(place, 'two', 'web')
    expect((await findCrew({ ...place.context, cwd: join(place.cwd, 'two') }, {})).id).toBe(two.id)
  })

  test('not another one if the config file of this folder has its own agents', async () => {
    const place = openPlace()
    await crewIn(place, 'one', 'api')
    mkdirSync(join(place.cwd, 'mine'))
    const config = join(place.cwd, 'mine', 'config.yaml')
    writeFileSync(config, 'agents:\n  - name: web\n')
    const context = { ...place.context, cwd: join(place.cwd, 'mine') }
    await expect(findCrew(context, {})).rejects.toThrow('No dispatcher has been started with config.yaml yet.')
    writeFileSync(config, 'something: else\n')
    expect((await findCrew(context, {})).panes).toMatchObject([{ name: 'api' }])
  })

  test('a running one is recognized by its lock', async () => {
    const place = openPlace()
    const { id } = await crewIn(place, 'one', 'api')
    holdCrew(place.context, id)
    expect((await findCrew(place.context, {})).running).toBe(true)
  })

  test('its agents are sorted by number', async () => {
    const place = openPlace()
    await crewIn(place, 'one', 'web', 'api', 'docs')
    expect((await findCrew(place.context, {})).panes.map(({ name }) => name)).toEqual(['web', 'api', 'docs'])
  })

  test('none', async () => {
    const { context } = openPlace()
    await expect(findCrew(context, {})).rejects.toThrow(
      'No dispatcher has been started yet. Start one: ralph dispatch --config config.yaml',
    )
  })

  test('none of that name, even if there are others', async () => {
    const place = openPlace()
    const sentence = 'No dispatcher has been started with x.yaml yet. Start one: ralph dispatch --config x.yaml'
    for (const name of ['one', 'two']) {
      await crewIn(place, name, 'api')
      await expect(findCrew(place.context, { config: 'x.yaml' })).rejects.toThrow(sentence)
    }
  })

  test('several', async () => {
    const place = openPlace()
    const [one, two] = [await crewIn(place, 'one', 'api'), await crewIn(place, 'two', 'web')]
    const names = [one.config, two.config]
    await expect(findCrew(place.context, {})).rejects.toThrow(
      /^There are several dispatchers\. Choose one by its config file with --config: /,
    )
    for (const name of names) await expect(findCrew(place.context, {})).rejects.toThrow(name)
  })
})

describe('which agent', () => {
  const panes = ['api', 'web'].map((name, index) => ({ name, record: paneRecord(crewAgent(name, index + 1)) }))
  const place = { id: 'c1', config: '/c.yaml', panes, running: false }

  test.each([
    ['1', 'api'],
    ['2', 'web'],
    ['web', 'web'],
    ['API', 'api'],
  ])('%s is %s', (asked, name) => {
    expect(findAgent(place, asked)).toMatchObject({ crew: 'c1', name })
  })

  test.each([
    ['3', 'No such agent: "3". Agents: 1 (api), 2 (web).'],
    ['wep', 'No such agent: "wep". Did you mean "web"? Agents: 1 (api), 2 (web).'],
    ['', 'No such agent: "". Agents: 1 (api), 2 (web).'],
  ])('%j is not found', (asked, sentence) => {
    expect(() => findAgent(place, asked)).toThrow(sentence)
  })
})

describe('a config file', () => {
  /** Its content, with a script for the scripted agent and a folder `web` next to it. */
  async function read(text: string, env: object = {}) {
    const cwd = realpathSync(temporaryFolder())
    const { context } = openPlace({ cwd })
    mkdirSync(join(cwd, 'web'))
    writeFileSync(join(cwd, 'script.json'), '{"turns": [[{"text": "Hello."}]]}')
    writeFileSync(join(cwd, 'config.yaml'), text)
    const read = readCrew({ ...context, env: { ...context.env, ...env } }, 'config.yaml')
    return read.then(
      ({ agents }) => ({ agents, cwd }),
      (cause: Error) => cause.message.replaceAll(cwd, 'HERE'),
    )
  }
  const SCRIPTED = 'agent: scripted:script.json'

  test('names the agents and where they work', async () => {
    const found = await read(
      `ralph:\n  ${SCRIPTED}\n  max_iterations: 5\n  circuit_breaker:\n    no_progress_limit: 4\nagents:\n  - name: api\n  - name: web\n    folder: web\n    permissions: bypass\n    checks: npm test\n    ralph:\n      enabled: false\n      circuit_breaker:\n        same_error_limit: 9\n`,
    )
    if (typeof found === 'string') throw new Error(found)
    const { agents, cwd } = found
    const scripted = `scripted:${join(cwd, 'script.json')}`
    expect(agents).toMatchObject([
      { number: 1, name: 'api', agent: scripted, dir: cwd, permissions: 'ask', enabled: true, checks: [] },
      { number: 2, name: 'web', dir: join(cwd, 'web'), permissions: 'bypass', enabled: false, checks: ['npm test'] },
    ])
    expect(agents.map(({ config }) => config)).toMatchObject([
      { max_iterations: 5, circuit_breaker: { no_progress_limit: 4 } },
      { max_iterations: 5, circuit_breaker: { no_progress_limit: 4, same_error_limit: 9 } },
    ])
  })

  test.each<[what: string, agents: string, sentence: string | RegExp]>([
    ['no agents', '', 'HERE/config.yaml: agents must name at least one agent, such as "- name: api".'],
    [
      'a missing folder',
      `  - name: api\n    ${SCRIPTED}\n    folder: nowhere`,
      'HERE/config.yaml:2: api: folder not found: HERE/nowhere.',
    ],
    [
      'two agents in one folder',
      `  - name: api\n    ${SCRIPTED}\n  - name: web\n    ${SCRIPTED}\n    folder: ./web/..`,
      'HERE/config.yaml:4: web and api would work in the same folder, HERE. Give one of them its own folder, or worktree: true.',
    ],
    [
      'no agent',
      '  - name: api',
      /^HERE\/config\.yaml:2: no agent is named, and none is logged in\. Name one, such as "agent: claude"; supported: .*scripted/,
    ],
    [
      'an unknown agent',
      '  - name: api\n    agent: cluade',
      /^HERE\/config\.yaml:2: .*"cluade".*Did you mean "claude"/,
    ],
    [
      'one that cannot run in a pane',
      '  - name: api\n    agent: command:true',
      /^HERE\/config\.yaml:2: the agent "command" cannot run in a pane\. These can: .*scripted/,
    ],
    [
      'one whose script is missing',
      '  - name: api\n    agent: scripted:no.json',
      /^HERE\/config\.yaml:2: .*HERE\/no\.json/,
    ],
  ])('with %s', async (_, agents, sentence) => {
    expect(await read(agents ? `agents:\n${agents}\n` : 'agents: []\n')).toMatch(sentence)
  })

  test('two agents may share a repository if one works in worktrees', async () => {
    const both = `agents:\n  - name: api\n    ${SCRIPTED}\n  - name: web\n    ${SCRIPTED}\n    worktree: true\n`
    expect(await read(both)).toMatchObject({ agents: [{ worktree: false }, { worktree: true }] })
  })

  test('RALPH_AGENT is used if no agent is named', async () => {
    const found = await read('agents:\n  - name: api\n', { RALPH_AGENT: 'scripted:script.json' })
    expect(found).toMatchObject({ agents: [{ agent: expect.stringMatching(/^scripted:/) }] })
  })
})
