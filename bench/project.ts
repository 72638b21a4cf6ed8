/**
 * A project: how close `ralph execute --parallel 4` comes to what its graph allows, and how long a large list of tasks takes.
 * The tasks of the random graphs sleep five to ten seconds, without checks. No order can be faster than the longest chain, or
 * than all work divided by four. The row also shows what the order alone would cost if nothing else took time.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { criticalPath } from '../src/engine/graph.ts'
import { plan } from '../src/engine/schedule.ts'
import { parseTasks, printTasks } from '../src/formats/tasks.ts'
import { planned } from '../src/project/record.ts'
import { inTemporaryFolder, leaveNothing } from './leftovers.ts'
import { RALPH } from './ralph.ts'
import type { Row } from './row.ts'
import { spread, timeEach } from './spread.ts'

const GRAPHS = 3
const TASKS = 24
const AT_A_TIME = 4

export async function* project(): AsyncGenerator<Row> {
  yield await largeList()
  for (let seed = 1; seed <= GRAPHS; seed++) yield await inTemporaryFolder((folder) => parallel(folder, seed))
}

/** From the text of tasks.json to the first tasks to work on. */
async function largeList(): Promise<Row> {
  const task = (index: number) => ({
    id: `T${index}`,
    title: `Task ${index}`,
    description: 'What to build, where, and how to tell that it works.',
    status: 'pending' as const,
    attempts: 0,
    max_attempts: 3,
    blocked: false,
    dependencies: index < 10 ? [] : [`T${index - 10}`, `T${index - 1 - ((index * 7) % 9)}`],
  })
  const tasks = Array.from({ length: 10_000 }, (_, index) => task(index))
  const text = printTasks({ project_name: 'bench', version: 1, tasks })
  const going = {
    working: new Set<string>(),
    begun: new Set<string>(),
    asking: new Map<string, string>(),
    slots: AT_A_TIME,
  }
  const choose = () => plan(parseTasks(text, 'tasks.json').tasks.map(planned), going)
  const rounds: number[][] = []
  for (let round = 0; round < 5; round++) rounds.push(await timeEach(5, choose))
  const measured = spread(rounds)
  return {
    what: '10,000 tasks loaded, and the next ones chosen',
    measured,
    unit: 'ms',
    figure: { value: measured.calm, unit: 'ms' },
    budget: 50,
  }
}

type Timed = { id: string; dependencies: string[]; seconds: number }

async function parallel(folder: string, seed: number): Promise<Row> {
  const tasks = randomGraph(seed)
  const dir = join(folder, 'work')
  makeProject(dir, tasks)
  const script = join(folder, 'script.json')
  writeFileSync(script, JSON.stringify({ tasks: Object.fromEntries(tasks.map((task) => [task.id, turnsOf(task)])) }))
  const begun = performance.now()
  await executeAll(dir, { home: join(folder, 'home'), script })
  const taken = performance.now() - begun
  const bound = 1_000 * Math.max(longestChain(tasks), tasks.reduce((sum, { seconds }) => sum + seconds, 0) / AT_A_TIME)
  return {
    what: `execute --parallel ${AT_A_TIME}, ${TASKS} tasks, graph ${seed} (order alone ${(orderAlone(tasks) / bound).toFixed(2)})`,
    measured: { median: taken, calm: taken },
    unit: 'ms',
    yardstick: { what: 'the graph allows', measured: { median: bound, calm: bound } },
    figure: { value: taken / bound, unit: '×' },
    budget: 1.1,
  }
}

/** Every task waits for up to two of the eight before it. */
function randomGraph(seed: number): Timed[] {
  let state = seed * 2_654_435_761
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  return Array.from({ length: TASKS }, (_, index) => {
    const before = Array.from({ length: Math.min(8, index) }, (_, back) => `T${index - 1 - back}`)
    const wanted = Math.floor(next() * 3)
    const dependencies = [...new Set(Array.from({ length: wanted }, () => before[Math.floor(next() * before.length)]))]
    return {
      id: `T${index}`,
      dependencies: dependencies.filter((id) => id !== undefined),
      seconds: Math.round(5_000 + next() * 5_000) / 1_000,
    }
  })
}

function longestChain(tasks: readonly Timed[]): number {
  const ends = new Map<string, number>()
  for (const { id, dependencies, seconds } of tasks)
    ends.set(id, seconds + Math.max(0, ...dependencies.map((before) => ends.get(before) ?? 0)))
  return Math.max(...ends.values())
}

/** How long the same order takes if starting and ending tasks takes no time: always the ready task with the longest chain behind it. */
function orderAlone(tasks: readonly Timed[]): number {
  const behind = criticalPath(
    tasks.map(({ id, dependencies, seconds }) => ({ id, dependsOn: dependencies, status: 'open', size: seconds })),
  )
  const left = [...tasks].sort((a, b) => (behind.get(b.id) ?? 0) - (behind.get(a.id) ?? 0))
  const ended = new Set<string>()
  const working: { id: string; end: number }[] = []
  let now = 0
  while (left.length > 0 || working.length > 0) {
    const next = left.find(({ dependencies }) => dependencies.every((id) => ended.has(id)))
    if (next && working.length < AT_A_TIME) {
      left.splice(left.indexOf(next), 1)
      working.push({ id: next.id, end: now + next.seconds })
      continue
    }
    working.sort((a, b) => a.end - b.end)
    const first = working.shift()
    if (!first) throw new Error('The graph has a cycle.')
    now = first.end
    ended.add(first.id)
  }
  return 1_000 * now
}

function turnsOf({ id, seconds }: Timed): object[][] {
  return [
    [{ sleep: seconds }, { edit: { path: `${id}.txt`, content: `${id}\n` } }, { report: { status: 'completed' } }],
  ]
}

function makeProject(dir: string, tasks: readonly Timed[]): void {
  const folder = join(dir, '.artefacts', 'bench')
  mkdirSync(folder, { recursive: true })
  const listed = tasks.map(({ id, dependencies, seconds }) => ({
    id,
    title: `Task ${id}`,
    dependencies,
    estimate: seconds / 60, // a planner's guess
  }))
  writeFileSync(join(folder, 'tasks.json'), JSON.stringify({ project_name: 'bench', version: 1, tasks: listed }))
  writeFileSync(join(folder, 'spec.md'), '# bench\n')
  writeFileSync(join(dir, 'README.md'), '# bench\n')
  for (const args of [
    ['init', '--quiet'],
    ['config', 'user.name', 'bench'],
    ['config', 'user.email', 'bench@localhost'],
    ['add', 'README.md'],
    ['commit', '--quiet', '--message', 'The start'],
  ])
    if (spawnSync('git', args, { cwd: dir }).status !== 0) throw new Error(`git ${args.join(' ')} failed`)
}

async function executeAll(dir: string, { home, script }: { home: string; script: string }): Promise<void> {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('RALPH_'))
  const args = ['execute', 'bench', '--dir', dir, '--parallel', String(AT_A_TIME), '--agent', `scripted:${script}`]
  const child = spawn(process.execPath, [RALPH, ...args], {
    env: { ...Object.fromEntries(ours), RALPH_HOME: home },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
    killSignal: 'SIGKILL',
  })
  const end = leaveNothing(() => child.kill('SIGKILL'))
  try {
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`ralph execute ended with ${code ?? child.signalCode}.`)
  } finally {
    end()
  }
}
