/** The Stop hook of a vault in the real Claude Code: it keeps working until the file of its task is in Done. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect } from 'vitest'
import { RalphWiggum } from '../src/index.ts'
import { claude } from './clients/claude.ts'
import type { Reply } from './model-server.ts'
import { until } from './ralph.ts'
import { type Host, openSitting, type Sitting } from './session-live.ts'

const CLAUDE = ['claude', '--dangerously-skip-permissions', '--output-format', 'stream-json', '--verbose', '-p']
const host: Host = {
  client: claude,
  headless: ['env', 'RALPH_TASK_ID=my report', ...CLAUDE],
  prefix: '/ralph:',
  face: '.claude',
}

const TEXT = `Write the "report" of it's $(touch PWNED) week.`

/** The folder of the sitting as a vault with the hook, and a waiting task. */
async function makeVault(
  { place }: Sitting,
  text = TEXT,
  below = '',
): Promise<{ api: RalphWiggum; state: () => Record<string, unknown> }> {
  const dir = join(place.dir, below)
  for (const folder of ['Needs_Action', 'Done']) mkdirSync(join(dir, folder), { recursive: true })
  writeFileSync(join(dir, 'Needs_Action', 'my report.md'), text)
  expect(await place.ralph(['install', 'claude', '--vault', dir, '--yes'])).toMatchObject({ code: 0 })
  return {
    api: new RalphWiggum({ vaultPath: dir, home: place.home, env: {} }),
    state: () => JSON.parse(readFileSync(join(dir, 'Ralph_State', 'my report.json'), 'utf8')),
  }
}

const MOVE = "mv 'Needs_Action/my report.md' Done/"

describe('claude with its task in RALPH_TASK_ID', () => {
  const sitting = openSitting(host)
  const { live, bash, script, requests, ask } = sitting
  const work = (n: number): Reply[] => [bash(`echo ${n} >> a.txt`), { text: `Step ${n} is done, more is left.` }]

  live('keeps working until the file is in Done', async () => {
    const { api, state } = await makeVault(sitting)
    await api.startTask({ task_file: 'Needs_Action/my report.md' })
    script([...work(1), ...work(2), bash(MOVE), { text: 'All of it is done.' }])
    const result = await ask('Work on the report.')
    expect(result).toMatchObject({ code: 0 })
    expect(result.stdout).toContain('All of it is done.')
    expect(requests()).toHaveLength(6)
    for (const asked of [2, 4]) {
      expect(JSON.stringify(requests()[asked])).toContain(JSON.stringify(TEXT).slice(1, -1))
      expect(JSON.stringify(requests()[asked])).toContain('Done/my report.md')
    }
    await until('the end of the task', () => state().status === 'completed')
    expect(state()).toMatchObject({ iteration: 3, max_iterations: 10 })
    expect(state().iterations_history).toMatchObject([
      { iteration: 1, action: 'Step 1 is done, more is left.' },
      { iteration: 2, action: 'Step 2 is done, more is left.' },
      { iteration: 3, action: 'All of it is done.' },
    ])
    await until('the session to be released', () => sitting.armed().length === 0)
    expect(await ask('Anything else?')).toMatchObject({ code: 0 })
    expect(requests()).toHaveLength(7)
    await api.close()
  })

  live('is released at the limit, with a message to the user', async () => {
    const { api, state } = await makeVault(sitting)
    await api.startTask({ task_file: 'Needs_Action/my report.md', max_iterations: 2 })
    script([...work(1), ...work(2), { text: 'One too many.' }])
    const result = await ask('Work on the report.')
    expect(result.stdout).toContain('Task reached maximum 2 iterations. Manual intervention required.')
    expect(requests()).toHaveLength(4)
    expect(state()).toMatchObject({ status: 'max_iterations_reached', iteration: 2 })
    await api.close()
  })

  live('gets the output of a failing check, and is done when it passes', async () => {
    const { api, state } = await makeVault(sitting, '---\nverify: test -f b.txt\n---\nWrite b.txt.')
    await api.startTask({ task_file: 'Needs_Action/my report.md' })
    script([bash(MOVE), { text: 'Done.' }, bash('echo b > b.txt'), { text: 'Done now.' }])
    const result = await ask('Work on the report.')
    expect(JSON.stringify(requests()[2])).toContain('The check `test -f b.txt` failed')
    expect(result.stdout).toContain('ralph: task my report is done after 2 iterations, proof: kept.')
    expect(state()).toMatchObject({ status: 'completed', iteration: 2 })
    await api.close()
  })

  live('can stop without ralph if the script is missing', async () => {
    const { api } = await makeVault(sitting)
    await api.startTask({ task_file: 'Needs_Action/my report.md' })
    script([bash('rm .claude/hooks/stop.sh'), { text: 'Step 1.' }, { text: 'One too many.' }])
    expect(await ask('Work on the report.')).toMatchObject({ code: 0 })
    expect(requests()).toHaveLength(2)
    await api.close()
  })
})

describe('claude starting a task itself', () => {
  const NAME = `it's "my" $(touch PWNED) vault`
  const sitting = openSitting({ ...host, headless: ['sh', '-c', 'cd "$0" && exec "$@"', NAME, ...CLAUDE] })
  const { live, bash, script, requests, ask } = sitting

  live('keeps working until the file is in Done, in any folder and with any name of the vault', async () => {
    const { api, state } = await makeVault(sitting, TEXT, NAME)
    const library = JSON.stringify(resolve('dist/index.js'))
    sitting.place.write(
      'start.mjs',
      `import { RalphWiggum } from ${library}\nconst api = new RalphWiggum({ vaultPath: '.' })\nawait api.startTask({ task_file: 'Needs_Action/my report.md' })\nawait api.close()\n`,
    )
    const start = `RALPH_HOME='${sitting.place.home}' '${process.execPath}' ../start.mjs`
    const away = bash('echo 2 > a.txt; cd Needs_Action')
    script([bash(start), { text: 'It is begun.' }, away, { text: 'More.' }, bash(`cd ..; ${MOVE}`), { text: 'Done.' }])
    expect(await ask('Start the report.')).toMatchObject({ code: 0 })
    expect(requests()).toHaveLength(6)
    expect(JSON.stringify(requests()[2])).toContain('Done/my report.md')
    await until('the end of the task', () => state().status === 'completed')
    expect(state()).toMatchObject({ iteration: 3 })
    await until('the session to be released', () => sitting.armed().length === 0)
    const links = join(sitting.place.dir, NAME, 'Ralph_State', '.hook')
    await until('its link to be removed', () => readdirSync(links).length === 0)
    expect(readdirSync(join(sitting.place.dir, NAME))).not.toContain('PWNED')
    await api.close()
  })
})
