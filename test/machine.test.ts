/**
 * What a machine can run out of: open files, disk space, the database. Nothing is lost, and a sentence says what to do.
 */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canMount, smallDisk } from '../src/host/place.test-support.ts'
import { done, edit, makeProject, scripted, sh, statuses } from './project-place.ts'
import { makePlace, onlyLoop, type Place, query, until } from './ralph.ts'

/** A Node with this limit of open files. */
function nodeWithFiles({ root }: Place, files: number): string {
  const path = join(root, 'node-with-few-files')
  writeFileSync(path, `#!/bin/sh\nulimit -n ${files}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 })
  return path
}

describe.concurrent('with few open files', () => {
  const IDS = Array.from({ length: 8 }, (_, at) => `T${at + 1}`)

  test('eight parallel tasks wait for each other, and all are completed', async () => {
    const place = makeProject(IDS)
    const turns = Object.fromEntries(IDS.map((id) => [id, [[sh('sleep 0.2'), edit(`${id}.txt`, id), done]]]))
    const argv = ['execute', 'shop', '--agent', scripted(place, turns), '--parallel', '8', '--verify', 'true', '--json']
    const ran = await place.ralph(argv, { node: nodeWithFiles(place, 64) })
    expect({ code: ran.code, stderr: ran.stderr }).toMatchObject({ code: 0 })
    expect(statuses(place)).toBe(IDS.map((id) => `${id} completed`).join(', '))
  })

  test('a limit too low for any program is reported, and a repository is still recognized', async () => {
    const place = makeProject(['T1'])
    const argv = ['execute', 'shop', '--agent', scripted(place, { T1: [[done]] }), '--parallel', '8', '--json']
    const ran = await place.ralph(argv, { node: nodeWithFiles(place, 32) })
    expect(ran.code).toBe(1)
    expect(ran.end).toMatchObject({ type: 'error', code: 'machine-limit' })
    expect(ran.stderr).toMatch(/too many files open.*ulimit -n/)
  })
})

describe.concurrent('a database that is removed', () => {
  test('during a loop is put back, and the loop continues to its end', async () => {
    const place = makePlace()
    const agent = place.agent(`
      echo "$RALPH_ITERATION" >> progress.txt
      [ "$RALPH_ITERATION" = 1 ] && rm '${place.home}'/ralph.db*
      [ "$RALPH_ITERATION" = 3 ] && echo "<promise>COMPLETE</promise>"
      exit 0`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--json'], { apart: true })
    expect(ran.end).toMatchObject({ status: 'completed', iterations: 3 })
    expect(ran.lines).toContainEqual(
      expect.objectContaining({ type: 'message', text: expect.stringContaining('ralph restored it') }),
    )
    expect(query(place, 'SELECT status, iteration FROM loop')).toEqual([{ status: 'completed', iteration: 3 }])
    expect(query(place, 'SELECT n FROM iteration ORDER BY n')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('while no loop runs is not mistaken for a new one, and can be rebuilt', async () => {
    const place = makePlace()
    await place.ralph(['run', 'Do the task.', '--agent', place.agent('echo "<promise>COMPLETE</promise>"')])
    for (const name of readdirSync(place.home).filter((file) => file.startsWith('ralph.db')))
      rmSync(join(place.home, name))
    const status = await place.ralph(['status'])
    expect(status).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/ralph\.db is missing.*ralph doctor --rebuild/),
    })
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect((await place.ralph(['status', '--json'])).lines).toEqual([expect.objectContaining({ status: 'completed' })])
  })
})

describe.concurrent('an agent that prints more than its transcript holds', () => {
  const NOISE = `yes "$(head -c 9000 /dev/zero | tr '\\0' x)"`
  const CLAIM = 'echo; echo; echo "<promise>COMPLETE</promise>"'

  function noisy(): Place {
    const place = makePlace()
    place.write('../ralph-home/ralph.config.json', '{ "transcript_mb": 1 }')
    return place
  }

  test('is read to its end, and a note says that not everything was kept', async () => {
    const place = noisy()
    const agent = place.agent(`date > work.txt; ${NOISE} | head -c 3000000; ${CLAIM}`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--json'])
    expect(ran.end).toMatchObject({ status: 'completed', iterations: 1 })
    const full = 'Iteration 1 printed more than fits into its transcript (transcript_mb: 1). The rest is not saved.'
    expect(ran.lines.filter(({ text }) => text === full)).toHaveLength(1)
    const loop = onlyLoop(place)
    expect(statSync(join(place.home, 'transcripts', loop, '1.jsonl')).size).toBeLessThan(1_200_000)
    expect((await place.ralph(['show', loop])).stdout).toContain('2 MB of its output was not kept.')
    const { stdout } = await place.ralph(['show', loop, '1'])
    expect(stdout).toContain('transcript limit of 1 MB reached: later output was not kept')
    expect(stdout).toContain('2 MB of later output was not kept')
    expect((await place.ralph(['doctor', '--rebuild'])).code).toBe(0)
    expect((await place.ralph(['show', loop])).stdout).toContain('2 MB of its output was not kept.')
  })

  test('and never ends is stopped by its time limit, not by silence', async () => {
    const place = noisy()
    const flags = ['--timeout', '0.05', '--silence', '0.02', '--json']
    const ran = await place.ralph(['run', 'Do the task.', '--agent', place.agent(`exec ${NOISE}`), ...flags])
    expect(ran.end).toMatchObject({ status: 'halted', reason: 'timeout' })
    expect(statSync(join(place.home, 'transcripts', onlyLoop(place), '1.jsonl')).size).toBeLessThan(1_200_000)
  })
})

describe('a disk with little space', () => {
  const LITTLE = /^Only \d+ MB left on the disk that holds .*ralph prune/

  function homeOn(disk: string, place: Place): { env: Record<string, string> } {
    return { env: { ...place.env, RALPH_HOME: join(disk, 'home') } }
  }

  test('is reported once, when a loop starts', async ({ skip }) => {
    skip(!canMount, 'needs its own disk')
    const place = makePlace()
    const { path } = smallDisk('size=200m')
    const agent = place.agent(
      'date +%N >> work.txt; [ "$RALPH_ITERATION" -lt 3 ] || echo "<promise>COMPLETE</promise>"',
    )
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--json'], homeOn(path, place))
    expect(ran.end).toMatchObject({ status: 'completed', iterations: 3 })
    expect(ran.lines.filter(({ text }) => LITTLE.test(String(text)))).toHaveLength(1)
  })

  test('is reported when others fill it while a loop runs', async ({ skip }) => {
    skip(!canMount, 'needs its own disk')
    const place = makePlace()
    const { path, remount } = smallDisk('size=3g')
    const agent = place.agent(`touch '${place.root}/began'; while [ ! -e '${place.root}/go' ]; do sleep 0.05; done`)
    const going = place.start(
      ['run', 'Do the task.', '--agent', agent, '--max-iterations', '1', '--json'],
      homeOn(path, place),
    )
    await until('the turn', () => existsSync(join(place.root, 'began')))
    expect(going.lines().some(({ text }) => LITTLE.test(String(text)))).toBe(false)
    remount('size=300m')
    await until('the message', () => going.lines().some(({ text }) => LITTLE.test(String(text))))
    writeFileSync(join(place.root, 'go'), '')
    await going.ended
  })

  test('that is full stops a loop with a sentence, and resuming it loses nothing', async ({ skip }) => {
    skip(!canMount, 'needs its own disk')
    const place = makePlace()
    const { path, remount } = smallDisk('size=4m')
    const home = homeOn(path, place)
    const agent = place.agent(`
      date +%N >> work.txt
      [ "$RALPH_ITERATION" = 2 ] && [ "$RALPH_ATTEMPT" = 1 ] && head -c 8000000 /dev/zero | tr '\\0' x
      [ "$RALPH_ITERATION" = 3 ] && echo "<promise>COMPLETE</promise>"
      exit 0`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--json'], home)
    expect(ran).toMatchObject({ code: 1, end: { type: 'error', code: 'disk-full' } })
    remount('size=64m')
    const resumed = await place.ralph(['resume', '--json'], home)
    expect(resumed.end).toMatchObject({ status: 'completed', iterations: 3 })
    expect(place.calls()).toEqual(['1 1', '2 1', '2 2', '3 1'])
  })
})
