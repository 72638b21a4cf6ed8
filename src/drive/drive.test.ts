import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Fact, type Limits, type Loop, type Order, type Spec, startLoop } from '../engine/loop.ts'
import { step } from '../engine/step.ts'
import { type Happening, nameOf, specOf, turn, woke, works } from '../engine/stories.test-support.ts'
import type { Step } from '../formats/script.ts'
import {
  canMount,
  eventually,
  running,
  smallDisk,
  source,
  startScript,
  temporaryFolder,
} from '../host/place.test-support.ts'
import { type LocalStore, openStore } from '../host/sqlite.ts'
import type { Lease, Store } from '../host/store.ts'
import { readTurnLog, type TurnEntry } from '../host/transcript.ts'
import { openTree } from '../host/tree.ts'
import { drive, type Hands } from './drive.ts'
import { runHands, type Workbench } from './hands.ts'
import { takeUp } from './take-turn.ts'
import { visit } from './visit.ts'

let root: string
let dir: string
let home: string
let store: LocalStore
let marker: string
const others: LocalStore[] = []

beforeEach(() => {
  root = temporaryFolder()
  dir = join(root, 'work')
  home = join(root, 'home')
  mkdirSync(dir)
  store = openStore(home, Date.now)
  marker = randomUUID()
})

afterEach(async () => {
  for (const other of [store, ...others.splice(0)]) await other.close()
  await eventually(() => running(marker).length === 0, 1_000).catch(() => {})
  const left = running(marker)
  for (const pid of left) process.kill(pid, 'SIGKILL')
  expect(left, 'processes that outlived their loop').toEqual([])
})

/** An agent that is a shell script. */
function agent(lines: string): string {
  const path = join(root, `agent-${randomUUID()}.sh`)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  return `command:${path}`
}

/** The scripted agent with these turns. */
function script(...turns: Step[][]): string {
  const path = join(root, `script-${randomUUID()}.json`)
  writeFileSync(path, JSON.stringify({ turns }))
  return `scripted:${path}`
}

/** A check that is a shell script. */
function check(lines: string): string {
  const path = join(root, `check-${randomUUID()}.sh`)
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  return path
}

type Given = Partial<Omit<Spec, 'limits' | 'work'>> & {
  agent: string
  limits?: Partial<Limits>
  silenceMinutes?: number
  chain?: string[][]
}

async function make({ agent: name, limits, silenceMinutes = 1, chain, ...spec }: Given, id = 'a1'): Promise<Loop> {
  const work = {
    dir,
    agent: name,
    agentArgs: [],
    permissions: 'bypass' as const,
    context: 'fresh' as const,
    silenceMinutes,
    checkMinutes: 1,
    ...(chain ? { chain } : {}),
  }
  const tree = await (await openTree({ dir, home, loop: id })).look()
  const loop = startLoop(id, specOf({ ...spec, work }, limits), {
    at: Date.now(),
    ...(tree === undefined ? {} : { tree }),
  })
  await store.create(loop)
  return loop
}

function again(): LocalStore {
  const other = openStore(home, Date.now)
  others.push(other)
  return other
}

async function leased(from: Store, id = 'a1'): Promise<Lease> {
  const lease = await from.lease(id)
  if ('heldBy' in lease) throw new Error(`The lease is held by ${lease.heldBy}.`)
  return lease
}

async function benchOf(change: Partial<Workbench> = {}): Promise<Workbench> {
  return {
    home,
    store,
    tree: await openTree({ dir, home, loop: 'a1' }),
    env: { ...process.env, MARKER: marker },
    now: Date.now,
    stop: new AbortController().signal,
    self: (program) => [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, '..', 'host', `${program}.ts`),
    ],
    show: () => {},
    ...change,
  }
}

/** Drives a loop as `ralph run` does. */
async function run(loop: Loop, change: Partial<Workbench> = {}, saw: Hands['saw'] = () => {}): Promise<Loop> {
  const bench = await benchOf(change)
  const lease = await leased(bench.store, loop.id)
  try {
    return await drive(loop, lease, bench.store, runHands(bench, saw))
  } finally {
    await lease.release()
  }
}

/** What the loop asked for after each fact. */
async function askedFor(id = 'a1'): Promise<string[]> {
  return (await store.events(0, id)).map(({ next }) => nameOf(next))
}

async function factsOf(id = 'a1'): Promise<Fact['kind'][]> {
  return (await store.events(0, id)).map(({ fact }) => fact.kind)
}

async function transcript(iteration: number): Promise<TurnEntry[]> {
  const entries: TurnEntry[] = []
  for await (const entry of readTurnLog(store.transcripts, 'a1', iteration)) entries.push(entry)
  return entries
}

const CLAIM = 'I did it.\n<promise>COMPLETE</promise>'

test('agents in a chain take the iterations in turn, and each reads what the one before said', async () => {
  const file = join(root, 'agent.sh')
  writeFileSync(file, `#!/bin/sh\ncat > '${root}/told'\necho "$1" >> order.txt\necho "I am $1."\n`, { mode: 0o755 })
  await run(
    await make({
      agent: `command:${file}`,
      chain: [['scout'], ['worker']],
      prompt: 'Go on from: {previous}',
      limits: { iterations: 3 },
    }),
  )
  expect(readFileSync(join(dir, 'order.txt'), 'utf8')).toBe('scout\nworker\nscout\n')
  expect(readFileSync(join(root, 'told'), 'utf8')).toMatch(/^Go on from: I am worker\.\n/)
  const prompts = (await transcript(1)).flatMap((entry) => ('prompt' in entry ? [entry.prompt] : []))
  expect(prompts[0]).toMatch(/^Go on from:\s+---/)
})

describe('a loop that ralph drives', () => {
  test('believes a check, not a claim', async () => {
    const loop = await make({
      agent: script(
        [{ text: CLAIM }],
        [{ edit: { path: 'half.txt', content: 'half' } }, { text: 'Half of it.' }],
        [{ edit: { path: 'whole.txt', content: 'whole' } }, { usage: { tokens: 9, costUsd: 0.5 } }, { text: CLAIM }],
      ),
      checks: [check('test -f whole.txt || { echo "1 failing"; exit 1; }')],
    })
    const seen: string[] = []
    const ended = await run(loop, {}, ({ next }, { kind }) => seen.push(`${kind}: ${nameOf(next)}`))
    expect(seen).toEqual([
      'checked: turn 1',
      'turned: check',
      'checked: turn 2',
      'turned: turn 3',
      'turned: check',
      'checked: complete verified',
    ])
    expect(await store.load('a1')).toEqual(ended)
    const iterations = await store.iterations('a1')
    expect(iterations.map(({ claim, changed, verdicts }) => [claim, changed, verdicts[0]?.result])).toEqual([
      ['clear', false, 'fail'],
      ['none', true, undefined],
      ['clear', true, 'pass'],
    ])
    expect(ended.tally).toMatchObject({ falseClaims: 1, tokens: 9, costUsd: 0.5 })
  })

  test('gives its agent the prompt byte for byte, and executes nothing in it', async () => {
    const prompt = `---\n$(touch pwned) \`touch pwned\`; touch pwned\n🦉 \u2028 'single' "double" \\ %s\n${'long '.repeat(200_000)}end`
    const loop = await make({ agent: agent('cat > ../prompt.txt; echo done'), prompt, limits: { iterations: 1 } })
    await run(loop)
    expect(readFileSync(join(root, 'prompt.txt'), 'utf8').slice(0, prompt.length)).toBe(prompt)
    expect(existsSync(join(dir, 'pwned'))).toBe(false)
  })

  test('gives its agent the loop, iteration and attempt, and its checks the loop', async () => {
    const loop = await make({
      agent: agent(
        'echo "$RALPH_LOOP_ID $RALPH_ITERATION $RALPH_ATTEMPT" >> ../calls; test -f done || { touch done; exit 1; }',
      ),
      checks: [check('echo "check $RALPH_LOOP_ID" >> ../calls; test -f done')],
      until: true,
    })
    expect((await run(loop)).next).toMatchObject({ kind: 'complete', proof: 'verified' })
    expect(readFileSync(join(root, 'calls'), 'utf8')).toBe('check a1\na1 1 1\na1 1 2\ncheck a1\n')
  })

  test('shows the next iteration what failed', async () => {
    const loop = await make({
      agent: agent('cat > ../prompt-$RALPH_ITERATION.txt; echo "$RALPH_ITERATION" >> file; echo "All tests passing"'),
      checks: [check('echo "expected 3, found 4"; exit 1'), check('echo "and this"; exit 1')],
      limits: { iterations: 2 },
    })
    await run(loop)
    const second = readFileSync(join(root, 'prompt-2.txt'), 'utf8')
    expect(second).toContain('expected 3, found 4')
    expect(second).toContain('and this')
  })

  test('records what was asked, what was printed and how it ended', async () => {
    const loop = await make({ agent: agent('echo out; echo err >&2; exit 3'), limits: { iterations: 1 } })
    await run(loop)
    const entries = await transcript(1)
    expect(entries[0]).toMatchObject({ attempt: 1, prompt: expect.stringContaining(loop.spec.prompt) })
    expect(entries).toContainEqual({ out: 'out\n' })
    expect(entries).toContainEqual({ err: 'err\n' })
    expect(entries).toContainEqual({ at: expect.any(Number), exit: 3, signal: null })
    expect(entries.filter((entry) => 'attempt' in entry)).toHaveLength(3)
  })

  test('shows live what its agent does', async () => {
    const shown: string[] = []
    const loop = await make({
      agent: script([{ text: 'thinking' }, { shell: ['touch', 'done'] }, { text: CLAIM }]),
      checks: [check('test -f done')],
    })
    await run(loop, { show: (event) => shown.push(event.kind === 'agent' ? event.event.kind : event.kind) })
    expect(shown).toEqual(['check-start', 'turn-start', 'text', 'tool', 'text', 'check-start'])
  })

  test('halts at once when its agent is not installed', async () => {
    const loop = await make({ agent: 'command:./no-such-agent' })
    expect((await run(loop)).next).toMatchObject({
      kind: 'halt',
      reason: 'agent-unusable',
      sentence: expect.stringContaining('no-such-agent'),
    })
  })

  test('halts when a check cannot be started', async () => {
    const loop = await make({ agent: agent(`echo "${CLAIM}"`), checks: ['./no-such-check'] })
    expect((await run(loop)).next).toMatchObject({
      kind: 'halt',
      reason: 'verifier-broken',
      sentence: expect.stringContaining('no-such-check'),
    })
  })

  test('waits for a limit to reset, without costing an iteration', async () => {
    const loop = await make({
      agent: script([
        { attempt: 1, 'rate-limit': { resetsInSeconds: 0.5 } },
        { edit: { path: 'a.txt', content: 'a' } },
        { text: CLAIM },
      ]),
    })
    const ended = await run(loop)
    expect(await askedFor()).toEqual(['wait limit', 'turn 1 attempt 2', 'complete claimed'])
    expect(ended.tally.iteration).toBe(1)
  })

  test('stops an agent that is silent for too long, and gives up when that happens every time', async () => {
    const loop = await make({ agent: agent('echo started; sleep 600'), silenceMinutes: 0.2 / 60 })
    expect((await run(loop)).next).toMatchObject({ kind: 'halt', reason: 'agent-failed' })
  })

  test('stops its agent at the time limit, and still checks whether it is done', async () => {
    const loop = await make({
      agent: agent('echo done > result; sleep 600'),
      checks: [check('test -f result')],
      limits: { minutes: 0.7 / 60 },
    })
    const ended = await run(loop)
    expect(await askedFor()).toEqual(['turn 1', 'check', 'complete verified'])
    expect(ended.tally.iteration).toBe(0)
  })

  test('does not keep a key that its agent or its checks print', async () => {
    const secret = `Ab3dEf6hIj9lMn2pQr5t${'Uv8x'}`
    const prints = `printf 'the key is sk-%s\\n' ant-${secret}`
    const loop = await make({
      agent: agent(`${prints}; ${prints} >&2; echo "All tests passing"`),
      checks: [check(`${prints}; exit 1`)],
      limits: { iterations: 2 },
    })
    await run(loop)
    await store.close()
    expect(filesBelow(home).filter((file) => readFileSync(file).includes(secret))).toEqual([])
    store = openStore(home, Date.now)
  })

  test('says that its folder no longer exists', async () => {
    const loop = await make({ agent: agent(`rm -r "${dir}"; echo gone`) })
    await expect(run(loop)).rejects.toMatchObject({
      code: 'home-unusable',
      message: expect.stringContaining(dir),
    })
  })
})

describe.skipIf(!canMount)('a loop whose home is full (needs mount)', () => {
  test('stops with a sentence and continues where it was once there is space', async () => {
    await store.close()
    home = smallDisk('size=3m').path
    store = openStore(home, Date.now)
    const loop = await make({
      agent: agent('echo "$RALPH_ITERATION" > file; test -f ../quiet || yes "some words"; echo "Ready for review"'),
      limits: { iterations: 2 },
    })
    await expect(run(loop)).rejects.toMatchObject({ code: 'disk-full' })
    expect(running(marker)).toEqual([])
    expect(await store.load('a1')).toEqual(loop)

    writeFileSync(join(root, 'quiet'), '')
    rmSync(store.transcripts.turnFile('a1', 1))
    const ended = await run(await store.load('a1'))
    expect(ended.next).toMatchObject({ kind: 'halt', reason: 'max-iterations' })
    expect((await store.iterations('a1')).map(({ n }) => n)).toEqual([1, 2])
  })
})

describe('an order', () => {
  const BUSY = 'echo started > ../started; sleep 600'

  test('to cancel ends the agent at once', async () => {
    const loop = await make({ agent: agent(`setsid sleep 600 & ${BUSY}`) })
    const driven = run(loop)
    await started()
    await again().tell('a1', 'Ada', { kind: 'cancel' })
    expect((await driven).next).toMatchObject({ kind: 'halt', reason: 'cancelled', sentence: 'Cancelled by Ada.' })
    expect(await factsOf()).toEqual(['lost', 'told'])
  })

  test('to cancel ends a check at once', async () => {
    const loop = await make({ agent: agent(`echo "${CLAIM}"`), checks: [check(BUSY)] })
    const driven = run(loop)
    await started()
    await again().tell('a1', 'Ada', { kind: 'cancel' })
    expect((await driven).next).toMatchObject({ kind: 'halt', reason: 'cancelled' })
  })

  test('to cancel ends a wait at once', async () => {
    const loop = await make({ agent: script([{ 'rate-limit': { resetsInSeconds: 600 } }]) })
    const driven = run(loop)
    await eventually(async () => (await store.load('a1')).next.kind === 'wait')
    await again().tell('a1', 'Ada', { kind: 'cancel' })
    expect((await driven).next).toMatchObject({ kind: 'halt', reason: 'cancelled' })
  })

  test('to pause waits for the end of the turn, and the loop can be resumed', async () => {
    const loop = await make({
      agent: agent(
        'echo started > ../started; until test -f ../go; do sleep 0.05; done; echo "$RALPH_ITERATION" > file',
      ),
      limits: { iterations: 2 },
    })
    const driven = run(loop)
    await started()
    await again().tell('a1', 'Ada', { kind: 'pause' })
    writeFileSync(join(root, 'go'), '')
    expect((await driven).next).toEqual({ kind: 'wait', why: 'paused' })
    expect((await store.iterations('a1')).map(({ n }) => n)).toEqual([1])

    await store.tell('a1', 'Ada', { kind: 'resume' })
    const ended = await run(await store.load('a1'))
    expect(ended.next).toMatchObject({ kind: 'halt', reason: 'max-iterations' })
    expect(await askedFor()).toEqual(['turn 2', 'wait paused', 'turn 2', 'halt max-iterations'])
  })

  test('with a message reaches the next turn', async () => {
    const loop = await make({
      agent: agent(
        'cat > ../prompt-$RALPH_ITERATION.txt; echo started > ../started; until test -f ../go; do sleep 0.05; done; echo "$RALPH_ITERATION" > file',
      ),
      limits: { iterations: 2 },
    })
    const driven = run(loop)
    await started()
    await again().tell('a1', 'Ada', { kind: 'say', words: 'Use a hash map.' })
    writeFileSync(join(root, 'go'), '')
    await driven
    expect(readFileSync(join(root, 'prompt-1.txt'), 'utf8')).not.toContain('hash map')
    expect(readFileSync(join(root, 'prompt-2.txt'), 'utf8')).toContain('Use a hash map.')
  })

  test('that came before the start is obeyed first', async () => {
    const loop = await make({ agent: agent(BUSY) })
    await store.tell('a1', 'Ada', { kind: 'cancel' })
    expect((await run(loop)).next).toMatchObject({ reason: 'cancelled' })
    expect(existsSync(join(root, 'started'))).toBe(false)
  })

  test('for another loop changes nothing', async () => {
    const loop = await make({
      agent: agent('echo started > ../started; sleep 0.3; echo a > file'),
      limits: { iterations: 1 },
    })
    await make({ agent: agent('true') }, 'a2')
    const driven = run(loop)
    await started()
    await again().tell('a2', 'Ada', { kind: 'cancel' })
    expect((await driven).next).toMatchObject({ reason: 'max-iterations' })
  })
})

describe('a ralph that is asked to stop', () => {
  test.each<[where: string, given: () => Given, next: string]>([
    ['a turn', () => ({ agent: agent('echo started > ../started; sleep 600') }), 'turn 1 attempt 2'],
    [
      'a check',
      () => ({ agent: agent(`echo "${CLAIM}"`), checks: [check('echo started > ../started; sleep 600')] }),
      'check',
    ],
    [
      'a wait',
      () => ({
        agent: script([{ edit: { path: '../started', content: '' } }, { 'rate-limit': { resetsInSeconds: 600 } }]),
      }),
      'wait limit',
    ],
  ])('during %s releases the loop, which can be resumed there', async (_, given, next) => {
    const stop = new AbortController()
    const driven = run(await make(given()), { stop: stop.signal })
    await started()
    await eventually(async () => next !== 'wait limit' || (await store.load('a1')).next.kind === 'wait')
    stop.abort()
    const left = await driven
    expect(nameOf(left.next)).toBe(next)
    expect(await store.load('a1')).toEqual(left)
    expect((await store.events(0, 'a1')).length).toBeLessThanOrEqual(3)
    expect(await store.isDriven('a1')).toBe(false)
  })

  test('before it started does nothing', async () => {
    const loop = await make({ agent: agent('echo started > ../started') })
    expect(await run(loop, { stop: AbortSignal.abort() })).toEqual(loop)
    expect(await store.events(0, 'a1')).toEqual([])
    expect(existsSync(join(root, 'started'))).toBe(false)
  })
})

describe('a loop that another process takes over', () => {
  test('is lost to the first, which records nothing more', async () => {
    const loop = await make({
      agent: agent(
        'test -f ../first || { touch ../first; until test -f ../go; do sleep 0.05; done; echo late > late.txt; exit 0; }; echo "$RALPH_ITERATION" > file',
      ),
      limits: { iterations: 3 },
    })
    const bench = await benchOf()
    const lease = await leased(store)
    const first = drive(
      loop,
      lease,
      store,
      runHands(bench, () => {}),
    )
    first.catch(() => {}) // looked at below
    await eventually(() => existsSync(join(root, 'first')))
    await lease.release() // as the kernel does for a machine that seems dead

    const other = again()
    const second = await leased(other)
    expect(second.epoch).toBe(2)
    const ended = await drive(
      await other.load('a1'),
      second,
      other,
      runHands({ ...bench, store: other }, () => {}),
    )
    expect(ended.next).toMatchObject({ kind: 'halt', reason: 'max-iterations' })

    writeFileSync(join(root, 'go'), '')
    await expect(first).rejects.toMatchObject({ code: 'lease-lost' })
    expect(await store.load('a1')).toEqual(ended)
    expect((await store.events(0, 'a1')).map(({ n }) => n)).toEqual([1, 2, 3])
    expect((await store.iterations('a1')).map(({ n }) => n)).toEqual([1, 2, 3])
  })

  test("stops the first one's agent at once", async () => {
    const loop = await make({ agent: agent('echo started > ../started; sleep 600') })
    const lease = await leased(store)
    const bench = await benchOf({ lost: lease.lost })
    const first = drive(
      loop,
      lease,
      store,
      runHands(bench, () => {}),
    )
    first.catch(() => {}) // looked at below
    await started()
    rmSync(join(home, 'locks', 'a1.db')) // so that nobody can see which process is alive
    await leased(again())
    await expect(first).rejects.toMatchObject({ code: 'lease-lost' })
    expect(running(marker)).toEqual([])
  })

  test('after a kill continues where it was: the turn again, its cost counted, its processes stopped', async () => {
    await make({
      agent: script([
        { attempt: 1, usage: { tokens: 100, costUsd: 0.25 } },
        { attempt: 1, shell: ['sh', '-c', 'echo started > ../started; setsid sleep 600 & sleep 600'] },
        { edit: { path: 'a.txt', content: 'a' } },
        { usage: { tokens: 7 } },
        { text: CLAIM },
      ]),
    })
    const ralph = startScript(
      `const { openStore } = await import(${source('host/sqlite.ts')})
       const { openTree } = await import(${source('host/tree.ts')})
       const { drive } = await import(${source('drive/drive.ts')})
       const { runHands } = await import(${source('drive/hands.ts')})
       const { HOME_OF_RALPH: home, DIR: dir, SCRIPTED } = process.env
       const store = openStore(home, Date.now)
       const bench = { store, tree: await openTree({ dir, home, loop: 'a1' }), env: process.env, now: Date.now,
         stop: new AbortController().signal, self: () => [process.execPath, SCRIPTED], show: () => {} }
       await drive(await store.load('a1'), await store.lease('a1'), store, runHands(bench, () => {}))`,
      {
        HOME_OF_RALPH: home,
        DIR: dir,
        MARKER: marker,
        SCRIPTED: join(import.meta.dirname, '..', 'host', 'scripted-agent.ts'),
      },
    )
    await started()
    await eventually(() => readFileSync(store.transcripts.turnFile('a1', 1), 'utf8').includes('costUsd'))
    process.kill(ralph.pid, 'SIGKILL')
    await ralph.ended

    const bench = await benchOf()
    const ended = await visit('a1', {
      store,
      now: Date.now,
      takeUp: takeUp(bench),
      held: (by) => Promise.reject(new Error(`held by ${by}`)),
      async work(resumed) {
        expect((await store.events(0, 'a1')).at(-1)?.fact).toMatchObject({ kind: 'lost', tokens: 100, costUsd: 0.25 })
        expect(running(marker)).toEqual([])
        return resumed.drive(runHands(bench, () => {}))
      },
    })
    expect(await askedFor()).toEqual(['turn 1 attempt 2', 'complete claimed'])
    expect(ended.tally).toMatchObject({ iteration: 1, tokens: 107, costUsd: 0.25 })
    expect(await store.iterations('a1')).toMatchObject([{ n: 1, attempts: 2 }])
  })

  test('outside a turn, or before it started, has lost nothing', async () => {
    const loop = await make({ agent: agent('true') })
    const checking: Loop = { ...loop, next: { kind: 'check', checks: [], because: 'claim' } }
    const { loss } = takeUp(await benchOf())
    expect(await loss(checking, Date.now)).toBeUndefined()
    expect(await loss(loop, Date.now)).toBeUndefined()
  })
})

/** A driver like a hook: it is called once per turn, and does only the checks itself. */
describe('a loop that a host drives', () => {
  async function hook(happening: Happening, from: Store = store): Promise<string> {
    const { check: checks } = runHands(await benchOf(), () => {})
    const lease = await leased(from)
    const loop = await from.load('a1')
    const fact = typeof happening === 'function' ? happening(loop) : happening
    const moved = step(loop, fact)
    await from.save(lease, moved, fact)
    const after = await drive(moved, lease, from, checks ? { check: checks } : {})
    await lease.release()
    return nameOf(after.next)
  }

  /** Opens a new loop, whose checks come before the first turn. */
  const begins: Happening = woke

  function says(words: string, tree: string): Happening {
    const claim = words === CLAIM ? ({ kind: 'clear' } as const) : ({ kind: 'none' } as const)
    return turn({ words, claim, tree })
  }

  test('continues turn by turn until its checks pass', async () => {
    await make({ agent: agent('true'), checks: [check('test -f whole.txt')] })
    expect(await hook(begins)).toBe('turn 1')
    expect(await hook(says('Working.', '1'))).toBe('turn 2')
    expect(await hook(says(CLAIM, '2'))).toBe('turn 3')
    writeFileSync(join(dir, 'whole.txt'), '')
    expect(await hook(says(CLAIM, '3'))).toBe('complete verified')
    expect(await askedFor()).toEqual(['check', 'turn 1', 'turn 2', 'check', 'turn 3', 'check', 'complete verified'])
    expect((await store.load('a1')).tally.falseClaims).toBe(1)
  })

  test('ends the same way as one that ralph drives', async () => {
    const turns: Step[][] = [
      [{ edit: { path: 'a.txt', content: 'a' } }, { text: 'Working.' }],
      [{ text: CLAIM }],
      [{ edit: { path: 'whole.txt', content: '' } }, { text: CLAIM }],
    ]
    await run(await make({ agent: script(...turns), checks: [check('test -f whole.txt')] }))
    const told = (await store.events(0, 'a1')).map(({ next }) => nameOf(next))
    const turned = (await store.events(0, 'a1')).map(({ fact }) => fact).filter(({ kind }) => kind === 'turned')

    rmSync(join(dir, 'whole.txt'))
    const { spec, tally } = await store.load('a1')
    const elsewhere = openStore(join(root, 'elsewhere'), Date.now)
    others.push(elsewhere)
    const start = store.transcripts.story('a1')?.beginning
    await elsewhere.create(startLoop('a1', spec, { at: tally.startedAt, ...(start?.tree ? { tree: start.tree } : {}) }))
    await hook(begins, elsewhere)
    for (const [index, fact] of turned.entries()) {
      if (index === 2) writeFileSync(join(dir, 'whole.txt'), '')
      await hook(fact, elsewhere)
    }
    expect((await elsewhere.events(0, 'a1')).map(({ next }) => nameOf(next))).toEqual(['check', ...told])
  })

  test.each<[order: Order, then: string, later: string]>([
    [{ kind: 'cancel' }, 'halt cancelled', 'halt cancelled'],
    [{ kind: 'pause' }, 'wait paused', 'wait paused'],
    [{ kind: 'say', words: 'Use a hash map.' }, 'turn 2', 'turn 3'],
    [{ kind: 'limits', limits: { iterations: 2 } }, 'turn 2', 'halt max-iterations'],
  ])('obeys between two turns: %j', async (order, then, later) => {
    await make({ agent: agent('true') })
    await store.tell('a1', 'Ada', order)
    expect(await hook(works)).toBe(then)
    expect(await store.nextOrder('a1')).toBeUndefined()
    const { next } = await store.load('a1')
    if (order.kind === 'say') expect(next).toMatchObject({ feedback: ['A person says: Use a hash map.'] })
    if (next.kind !== 'halt') expect(await hook(works)).toBe(later)
  })

  test('continues after a pause when it is resumed', async () => {
    await make({ agent: agent('true') })
    await store.tell('a1', 'Ada', { kind: 'pause' })
    expect(await hook(works)).toBe('wait paused')
    await store.tell('a1', 'Ada', { kind: 'resume' })
    const lease = await leased(store)
    expect(nameOf((await drive(await store.load('a1'), lease, store, {})).next)).toBe('turn 2')
    await lease.release()
    expect(await hook(works)).toBe('turn 3')
  })

  test('obeys orders in the order they came, a cancel first', async () => {
    await make({ agent: agent('true') })
    for (const order of [{ kind: 'pause' }, { kind: 'resume' }, { kind: 'cancel' }] as const)
      await store.tell('a1', 'Ada', order)
    expect(await hook(works)).toBe('halt cancelled')
    expect(await askedFor()).toEqual(['turn 2', 'halt cancelled'])
  })

  test('is refused to the hook of an older session once another holds it', async () => {
    await make({ agent: agent('true') })
    const old = await leased(store)
    await old.release()
    const newer = await leased(again())
    const moved = step(await store.load('a1'), { kind: 'woke', at: Date.now() })
    await expect(store.save(old, moved, { kind: 'woke', at: Date.now() })).rejects.toMatchObject({ code: 'lease-lost' })
    await newer.release()
  })
})

describe('hands', () => {
  test('that can do nothing leave the loop as it is', async () => {
    const loop = await make({ agent: agent('true') })
    expect(await drive(loop, await leased(store), store, {})).toEqual(loop)
    expect(await store.events(0)).toEqual([])
  })

  test('are not asked once a loop has ended', async () => {
    const loop = await make({ agent: agent('true') })
    const ended: Loop = { ...loop, next: { kind: 'complete', proof: 'claimed', sentence: '' } }
    await store.tell('a1', 'Ada', { kind: 'cancel' })
    const hands: Hands = { turn: () => Promise.reject(new Error('asked')) }
    expect(await drive(ended, await leased(store), store, hands)).toEqual(ended)
  })

  test('that fail leave what was saved before', async () => {
    const loop = await make({ agent: agent('true') })
    let turns = 0
    const hands: Hands = {
      turn: async (now) => {
        if (++turns === 2) throw new Error('the hand slipped')
        return typeof works === 'function' ? works(now) : works
      },
    }
    await expect(drive(loop, await leased(store), store, hands)).rejects.toThrow('the hand slipped')
    expect(await askedFor()).toEqual(['turn 2'])
  })
})

async function started(): Promise<void> {
  await eventually(() => existsSync(join(root, 'started')))
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}
