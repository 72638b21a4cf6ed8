/** Proof settings reach every kind of loop: by option, config and task. */
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Spec } from '../src/engine/loop.ts'
import { openContext } from '../src/operations/context.ts'
import { does, execute, makeProject, type TaskGiven } from './project-place.ts'
import { commitAll, makePlace, type Place, query } from './ralph.ts'
import { answerOf, openSession } from './session-place.ts'

const CONFIG = {
  ...{ proof: 'seal', require: 'kept', protect: ['spec/**'], may_change: ['snap/**'] },
  ...{ proof_minutes: 3, proof_setup: 'true', worktree_files: ['.env'] },
}
const FLAGS = [
  ...['--require', 'verified', '--protect', 'e2e/**', '--protect', 'a b', '--may-change', 'b.snap'],
  ...['--proof', 'full', '--proof-minutes', '7.5'],
]

/** The proof settings of the loops of a place, first loop first. */
async function proofs(place: Place): Promise<object[]> {
  const { home, dir, env } = place
  const context = openContext({ root: resolve('.'), home, env, cwd: () => dir, note: () => {} })
  const ids = query(place, 'SELECT id FROM loop ORDER BY rowid').map(({ id }) => String(id))
  const loops = await Promise.all(ids.map((id) => context.store().load(id)))
  await context.close()
  return loops.map(({ spec }) => proofOf(spec))
}

function proofOf({ proof, require, protect, mayChange, work }: Spec): object {
  const { proofMinutes, proofSetup, proofFiles } = work
  return JSON.parse(
    JSON.stringify({ proof, require, protect, mayChange, proofMinutes, proofSetup, proofFiles }),
  ) as object
}

const configured = {
  ...{ proof: 'seal', require: 'kept', protect: ['spec/**'], mayChange: ['snap/**'] },
  ...{ proofMinutes: 3, proofSetup: 'true', proofFiles: ['.env'] },
}
const both = {
  ...{ require: 'verified', protect: ['spec/**', 'e2e/**', 'a b'], mayChange: ['snap/**', 'b.snap'] },
  ...{ proofMinutes: 7.5, proofSetup: 'true', proofFiles: ['.env'] },
}

function configure(place: Place, config: object = CONFIG): void {
  place.write('ralph.config.json', JSON.stringify(config))
}

/** The globs of `--protect` that are reported to match nothing. */
function unmatchedIn(text: string): (string | undefined)[] {
  return [...text.matchAll(/protect "([^"]*)" matches no file here\./g)].map(([, glob]) => glob)
}

describe('ralph run', () => {
  const run = (place: Place, ...flags: string[]) =>
    place.ralph(['run', 'Do it.', '--agent', 'command:true', '--max-iterations', '1', '--verify', 'true', ...flags])

  test('takes options', async () => {
    const place = makePlace({ git: false })
    await run(place, ...FLAGS)
    expect(await proofs(place)).toEqual([
      { require: 'verified', protect: ['e2e/**', 'a b'], mayChange: ['b.snap'], proofMinutes: 7.5 },
    ])
  })

  test('reports a glob that protects nothing, from the config as well; but not a may-change glob without files yet', async () => {
    const place = makePlace({ git: false })
    configure(place, { protect: ['spec/**', 'ralph.config.json'] })
    const { stderr } = await run(place, '--protect', 'e2e/**', '--may-change', 'new.snap')
    expect(unmatchedIn(stderr)).toEqual(['spec/**', 'e2e/**'])
  })

  test('takes settings from the config, which options override', async () => {
    const place = makePlace({ git: false })
    configure(place)
    await run(place)
    await run(place, ...FLAGS)
    expect(await proofs(place)).toEqual([configured, both])
  })
})

describe('ralph execute', () => {
  const { proofFiles: _, ...said } = configured

  test('gives each task the settings of the config and of the task itself', async () => {
    const own: TaskGiven = { require: 'kept', protect: ['mine'], may_change: ['m.snap'] }
    const place = makeProject(['T1', { id: 'T2', dependencies: ['T1'], ...own }])
    configure(place, { ...CONFIG, worktree_files: [] })
    commitAll(place)
    const ran = await execute(place, { T1: [does('T1')], T2: [does('T2')] }, '--verify', 'true')
    expect(unmatchedIn(ran.lines.map(({ text }) => text).join())).toEqual(['spec/**', 'mine'])
    expect(await proofs(place)).toEqual([
      said,
      { ...said, protect: ['spec/**', 'mine'], mayChange: ['snap/**', 'm.snap'] },
    ])
  })

  test('takes options, which a task overrides', async () => {
    const place = makeProject([{ id: 'T1', require: 'kept' }])
    await execute(place, { T1: [does('T1')] }, '--verify', 'true', ...FLAGS)
    expect(await proofs(place)).toEqual([
      { require: 'kept', protect: ['e2e/**', 'a b'], mayChange: ['b.snap'], proofMinutes: 7.5 },
    ])
  })

  test('a grade that a task can never reach is refused before anything starts', async () => {
    const place = makeProject([{ id: 'T1', verify: 'true' }, 'T2'])
    const ran = await execute(place, { T1: [does('T1')] }, '--require', 'kept')
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'Task T2: the required proof "kept" needs a check: add one with --verify "npm test", or with "verify" in tasks.json.',
      ),
    })
    expect(existsSync(join(place.home, 'ralph.db')) ? await proofs(place) : []).toEqual([])
  })
})

describe('a vault', () => {
  function makeVault(files: Readonly<Record<string, string>>): Place {
    const place = makePlace({ git: false })
    mkdirSync(join(place.dir, 'Needs_Action'))
    const then = Date.now() / 1_000 - 60
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(place.dir, 'Needs_Action', name), text)
      utimesSync(join(place.dir, 'Needs_Action', name), then, then)
    }
    return place
  }
  const HEAD = '---\nverify: "true"\nrequire: tested\nprotect: mine\nmay_change: [m.snap]\n---\nDo it.\n'
  const done = 'mv "$RALPH_TASK_FILE" "$RALPH_VAULT/Done/"'

  test('watched: options, config and front matter', async () => {
    const place = makeVault({ 'a.md': HEAD })
    configure(place, { ...CONFIG, proof: 'full' })
    const agent = place.agent(done)
    const flags = ['--once', '--agent', agent, '--max-iterations', '1', '--protect', 'e2e']
    const watched = await place.ralph(['watch', place.dir, ...flags])
    expect(unmatchedIn(watched.stdout)).toEqual(['mine', 'spec/**', 'e2e'])
    expect(watched.stdout).toContain('Needs_Action/a.md: protect "mine" matches no file here.')
    expect(await proofs(place)).toEqual([
      {
        ...{ require: 'tested', protect: ['spec/**', 'e2e', 'mine'], mayChange: ['snap/**', 'm.snap'] },
        ...{ proofMinutes: 3, proofSetup: 'true', proofFiles: ['.env'] },
      },
    ])
  })

  test('a file without a check for the grade is put aside with a note', async () => {
    const place = makeVault({ 'a.md': 'Do it.\n' })
    await place.ralph(['watch', place.dir, '--once', '--agent', place.agent(done), '--require', 'kept'])
    expect(place.read('Failed/a.md')).toBe('Do it.\n')
    expect(place.calls()).toEqual([])
  })

  test('worked on by a caller: config and front matter', async () => {
    const place = makeVault({ 'a.md': HEAD.replace('tested', 'kept') })
    configure(place)
    const started = await place.ralph(['task', 'start', 'Needs_Action/a.md'])
    expect([started.code, unmatchedIn(started.stderr)]).toEqual([0, ['mine', 'spec/**']])
    const { protect, mayChange } = { protect: ['spec/**', 'mine'], mayChange: ['snap/**', 'm.snap'] }
    expect(await proofs(place)).toEqual([{ ...configured, protect, mayChange }])
  })

  test.each(['protect: ""', 'protect: [5]'])(
    'a file with %s is put aside, and the note names the key',
    async (line) => {
      const place = makeVault({ 'a.md': `---\nverify: "true"\n${line}\n---\nDo it.\n` })
      await place.ralph(['watch', place.dir, '--once', '--agent', place.agent(done)])
      expect(place.read('Failed/a.md.why.md')).toContain('Needs_Action/a.md: protect must be a glob or a list of globs')
      expect(place.calls()).toEqual([])
    },
  )

  test('a caller gets an error at once if a grade cannot be reached', async () => {
    const place = makeVault({ 'a.md': '---\nrequire: kept\n---\nDo it.\n' })
    const { code, stderr } = await place.ralph(['task', 'start', 'Needs_Action/a.md'])
    expect(code).toBe(2)
    expect(stderr).toContain('add one with a line such as "verify: npm test" in its frontmatter')
  })
})

describe('a session', () => {
  test('takes options and settings from the config', async () => {
    const place = makePlace({ git: false })
    configure(place)
    const typed =
      '/ralph:loop Do it --verify true --require verified --protect e2e/** --protect "a b" --may-change b.snap --proof full'
    const begun = await openSession(place).type(typed)
    expect(begun.prompt).toContain('Do it')
    expect(unmatchedIn(begun.said)).toEqual(['spec/**', 'e2e/**', 'a b'])
    const { proofMinutes: _, ...rest } = both
    expect(await proofs(place)).toEqual([{ ...rest, proofMinutes: 3 }])
  })

  test('refuses a grade without a check', async () => {
    const answer = answerOf(await openSession(makePlace({ git: false })).type('/ralph:loop Do it --require kept'))
    expect(answer).toContain('--require kept needs a check: add one with --verify "npm test".')
  })
})
