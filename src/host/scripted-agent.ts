/** The program behind the scripted agent: plays the steps of this iteration and prints what it does, one JSON object per line. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScriptedLine } from '../agents/scripted.ts'
import { RalphError } from '../error.ts'
import { parseScript, type Step } from '../formats/script.ts'

await main(process.argv[2] ?? '').catch((cause) => {
  process.stderr.write(`${cause instanceof RalphError ? cause.message : cause}\n`)
  print({ type: 'end', kind: 'config', message: cause instanceof Error ? cause.message : String(cause) })
  process.exitCode = 1
})

async function main(file: string): Promise<void> {
  if (!process.stdin.isTTY) process.stdin.resume() // it reads the prompt, as any agent would; a keyboard never ends
  const script = parseScript(readScript(file), file)
  const { RALPH_TASK_ID: task = '', RALPH_MERGE } = process.env
  const turns = script.tasks[RALPH_MERGE ? `${task}/merge` : task] ?? script.turns
  // A project numbers the turns of all its tasks consecutively; a script has those of one.
  const { RALPH_ITERATION: n = '1', RALPH_ATTEMPT: nth = '1' } = process.env
  const { RALPH_LOOP_ITERATION: iteration = n, RALPH_LOOP_ATTEMPT: attempt = nth } = process.env
  const steps = turns[Math.min(Number(iteration), turns.length) - 1] ?? []
  for (const step of steps) {
    if (step.attempt !== undefined && step.attempt !== Number(attempt)) continue
    if (!(await play(step))) return
  }
  print({ type: 'end', kind: 'ok' })
}

function readScript(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new RalphError(
      'input-invalid',
      `The script ${file} cannot be read. Name an existing file: --agent scripted:script.json`,
      { cause },
    )
  }
}

/** False if the turn ends here. */
async function play(step: Step): Promise<boolean> {
  if ('text' in step) print({ type: 'text', text: step.text })
  if ('usage' in step) print({ type: 'usage', ...step.usage })
  if ('denied' in step) print({ type: 'denied', tool: step.denied })
  if ('ask' in step) print({ type: 'denied', tool: step.ask })
  if ('sleep' in step) await sleep(step.sleep * 1_000)
  if ('edit' in step) {
    print({ type: 'tool', name: 'edit', summary: step.edit.path })
    mkdirSync(dirname(resolve(step.edit.path)), { recursive: true })
    writeFileSync(step.edit.path, step.edit.content)
  }
  if ('shell' in step) {
    print({ type: 'tool', name: 'shell', summary: step.shell.join(' ') })
    const [program = '', ...args] = step.shell
    spawnSync(program, args, { stdio: 'ignore' })
  }
  if ('report' in step) report(step.report)
  if ('fail' in step) {
    process.stderr.write(`${step.fail}\n`)
    process.exitCode = step.exit ?? 1
    return false
  }
  if ('rate-limit' in step) {
    const { resetsInSeconds, message = 'rate limited' } = step['rate-limit']
    print({
      type: 'end',
      kind: 'rate-limit',
      message,
      ...(resetsInSeconds === undefined ? {} : { resetsInMs: resetsInSeconds * 1_000 }),
    })
    process.exitCode = 1
    return false
  }
  return true
}

/** Marks the task, appends an entry and an obstacle, and ends the turn, in the files of the project. */
function report({ status, summary, obstacle }: Extract<Step, { report: object }>['report']): void {
  const { RALPH_TASK_ID: task = '', RALPH_PROJECT_DIR: folder = '.' } = process.env
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value, undefined, 2))
  const [tasks, entries, obstacles] = [read('tasks.json'), read('state.json'), read('obstacles.json')]
  const iteration = 1 + Math.max(0, ...entries.map((entry: { iteration: number }) => entry.iteration))
  const id = `O${obstacles.obstacles.length + 1}`
  if (status !== 'attempted')
    Object.assign(
      tasks.tasks.find((one: { id: string }) => one.id === task),
      { status },
    )
  entries.push({
    iteration,
    task_id: task,
    status: status === 'completed' ? 'completed' : 'attempted',
    summary: summary ?? `Played the script of ${task}`,
    files_modified: [],
    obstacles: obstacle === undefined ? [] : [id],
  })
  if (obstacle !== undefined)
    obstacles.obstacles.push({ id, task_id: task, message: obstacle, resolved: false, iteration })
  write('tasks.json', tasks)
  write('state.json', entries)
  write('obstacles.json', obstacles)
  writeFileSync(join(folder, 'done.md'), `${task}: ${status}\n`)
}

function print(line: ScriptedLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
