/** `ralph proof` as users and programs see it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { carriers, commitAll, makePlace, onlyLoop, type Place, type Running, until } from './ralph.ts'

const CLAIMS = 'echo "<promise>COMPLETE</promise>"'

async function provenPlace(): Promise<Place> {
  const place = makePlace()
  const agent = place.agent(`touch finished; ${CLAIMS}`)
  const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--verify', 'ls finished'])
  expect(ran.code).toBe(0)
  return place
}

/** A proof that is being repeated; its check runs until `slow` is removed. */
async function duringCheck(): Promise<{ place: Place; slow: string; running: Running }> {
  const place = makePlace()
  const [slow, checking] = [join(place.root, 'slow'), join(place.root, 'home', 'checking')]
  const lines = ['touch "$HOME/checking"', `while [ -e '${slow}' ]; do sleep 0.02; done`, 'test -f finished']
  place.write('check.sh', `${lines.join('\n')}\n`)
  commitAll(place)
  const agent = place.agent(`touch finished; echo; ${CLAIMS}`)
  expect((await place.ralph(['run', 'x', '--agent', agent, '--verify', 'sh check.sh'])).code).toBe(0)
  rmSync(checking)
  writeFileSync(slow, '')
  const running = place.start(['proof', '--again'])
  await until('the check', () => existsSync(checking))
  return { place, slow, running }
}

/** Folders of experiments, and what the repository knows about them. */
function leftovers({ home, dir }: Place): string[] {
  const worktrees = join(dir, '.git', 'worktrees')
  return [...readdirSync(join(home, 'again', 'proof')), ...(existsSync(worktrees) ? readdirSync(worktrees) : [])]
}

describe.concurrent('ralph proof', () => {
  test('shows each check before and after, and the sentence', async () => {
    const place = await provenPlace()
    const { code, stdout } = await place.ralph(['proof'])
    expect(code).toBe(0)
    expect(stdout).toContain(`loop ${onlyLoop(place)} · proof: verified\n`)
    expect(stdout).toMatch(/^ls finished +fails.* +passes/m)
    expect(stdout).toContain('failed before the loop began and passes now.')
  })

  test('prints an in-toto statement for programs', async () => {
    const place = await provenPlace()
    const { end } = await place.ralph(['proof', onlyLoop(place).slice(0, 6), '--json'])
    expect(end).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [{ name: 'work', digest: { gitTree: expect.stringMatching(/^[0-9a-f]{40}$/) } }],
      predicate: { result: 'PASSED', passedTests: ['ls finished'], ralph: { grade: 'verified' } },
    })
  })

  test('signs it, and says how to verify it', async ({ skip }) => {
    skip(spawnSync('ssh-keygen', ['-?']).error !== undefined, 'ssh-keygen is not installed')
    const place = await provenPlace()
    spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(place.root, 'key')])
    const signed = await place.ralph(['proof', '--sign', join(place.root, 'key'), '-o', 'proof.json'])
    expect(signed).toMatchObject({ code: 0, stderr: '' })
    expect(signed.stdout).toContain('Wrote proof.json and its signature proof.json.sig.')
    const commands = signed.stdout.split('\n').filter((line) => line.startsWith('  '))
    expect(spawnSync('sh', ['-ec', commands.join('\n')], { cwd: place.dir }).status).toBe(0)
    const again = await place.ralph(['proof', '--sign', join(place.root, 'key'), '-o', 'proof.json'])
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('proof.json already exists.') })
  })

  test('repeats it in a clean folder', async () => {
    const place = await provenPlace()
    const again = await place.ralph(['proof', '--again'])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/ls finished fails.*\n✓ Same grade again: verified\. /s)
    const { lines, end } = await place.ralph(['proof', '--again', '--json'])
    expect(lines.map(({ type }) => type)).toEqual(['proof-end', 'proof-end', 'proof-repeated'])
    expect(end).toMatchObject({ grade: 'verified', repeated: { grade: 'verified' }, isAsGood: true })
  })

  test('names the file that makes a check pass', async () => {
    const place = makePlace()
    place.write('check.sh', 'test -f finished\n')
    commitAll(place)
    const agent = place.agent(`echo 'exit 0' > check.sh; date +%N > work.txt; echo; ${CLAIMS}`)
    const ran = await place.ralph(['run', 'Do the task.', '--agent', agent, '--verify', 'sh check.sh'])
    expect(ran.code).toBe(4)
    const why = await place.ralph(['proof', '--why'])
    expect(why).toMatchObject({ code: 0, stdout: 'check.sh alone makes sh check.sh pass.\n' })
    expect((await place.ralph(['proof', '--again'])).code).toBe(1)
    expect((await place.ralph(['proof', '--why', '--json'])).end).toMatchObject({ kind: 'found', paths: ['check.sh'] })
  })

  test('is stopped by Ctrl-C during a check, and leaves no folder and no process', async () => {
    const { place, running } = await duringCheck()
    running.child.kill('SIGINT')
    const ended = await running.ended
    expect(ended).toMatchObject({ code: 130, stdout: '✗ Interrupted. Nothing was changed.\n' })
    expect(leftovers(place)).toEqual([])
    expect(carriers(`RALPH_LOOP_ID=again-${onlyLoop(place)}`)).toEqual([])
  })

  test('when killed during a check, leaves a folder that the next one removes', async () => {
    const { place, slow, running } = await duringCheck()
    running.child.kill('SIGKILL')
    await running.ended
    expect(leftovers(place)).toHaveLength(2)
    rmSync(slow)
    expect((await place.ralph(['proof', '--again'])).code).toBe(0)
    expect(leftovers(place)).toEqual([])
  })

  test('says so if no loop was ever started, and if an option has no meaning', async () => {
    const place = makePlace({ git: false })
    expect(await place.ralph(['proof'])).toMatchObject({ code: 2, stderr: expect.stringContaining('No loop') })
    const both = await place.ralph(['proof', '--again', '--why'])
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--again cannot be combined with --why.') })
    expect(await place.ralph(['proof', '-o', 'x'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--sign'),
    })
  })
})
