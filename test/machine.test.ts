/** What a machine can run out of: open files, room on its disk, the database. Nothing is lost, and a sentence says what to do. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { done, edit, makeProject, scripted, sh, statuses } from './project-place.ts'
import { makePlace, type Place, query } from './ralph.ts'

/** A Node that may have so many files open. */
function nodeWithFiles({ root }: Place, files: number): string {
  const path = join(root, 'node-with-few-files')
  writeFileSync(path, `#!/bin/sh\nulimit -n ${files}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  return path
}

describe.concurrent('where few files can be open', () => {
  const IDS = Array.from({ length: 8 }, (_, at) => `T${at + 1}`)

  test('eight tasks at a time wait for each other, and all are completed', async () => {
    const place = makeProject(IDS)
    const turns = Object.fromEntries(IDS.map((id) => [id, [[sh('sleep 0.2'), edit(`${id}.txt`, id), done]]]))
    const argv = ['execute', 'shop', '--agent', scripted(place, turns), '--parallel', '8', '--verify', 'true', '--json']
    const ran = await place.ralph(argv, { node: nodeWithFiles(place, 64) })
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 })
    expect(statuses(place)).toBe(IDS.map((id) => `${id} completed`).join(', '))
  })

  test('too few for any program are said, and a repository is not taken for none', async () => {
    const place = makeProject(['T1'])
    const argv = ['execute', 'shop', '--agent', scripted(place, { T1: [[done]] }), '--parallel', '8', '--json']
    const ran = await place.ralph(argv, { node: nodeWithFiles(place, 32) })
    expect(ran.code).toBe(1)
    expect(ran.end).toMatchObject({ type: 'error', code: 'machine-limit' })
    expect(ran.stderr).toMatch(/too many files open.*ulimit -n/)
  })
})

describe.concurrent('a database that is removed', () => {
  test('in the middle of a loop is put back, and the loop goes on to its end', async () => {
    const place = makePlace()
    const agent = place.agent(`
      echo "$RALPH_ITERATION" >> progress.txt
      [ "$RALPH_ITERATION" = 1 ] && rm '${place.home}'/ralph.db*
      [ "$RALPH_ITERATION" = 3 ] && echo "<promise>COMPLETE</promise>"
      exit 0`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--json'])
    expect(ran.end).toMatchObject({ status: 'completed', iterations: 3 })
    expect(ran.lines).toContainEqual(
      expect.objectContaining({ type: 'message', text: expect.stringContaining('ralph has put it back') }),
    )
    expect(query(place, 'SELECT status, iteration FROM loop')).toEqual([{ status: 'completed', iteration: 3 }])
    expect(query(place, 'SELECT n FROM iteration ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('when no loop runs is not taken for a new one, and can be rebuilt', async () => {
    const place = makePlace()
    await place.ralph(['run', 'Do the task.', '--agent', place.agent('echo "<promise>COMPLETE</promise>"')])
    for (const name of readdirSync(place.home).filter((file) => file.startsWith('ralph.db')))
      rmSync(join(place.home, name))
    const status = await place.ralph(['status'])
    expect(status).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ralph\.db is gone.*ralph doctor --rebuild/),
    })
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect((await place.ralph(['status', '--json'])).lines).toEqual([expect.objectContaining({ status: 'completed' })])
  })
})
