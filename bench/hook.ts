/** The hook of a session: what it costs without a loop, and what one step of a loop costs. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timeStarts } from './machine.ts'
import type { Row } from './row.ts'
import { sideBySide, spread, timeEach } from './spread.ts'

const ROOT = join(import.meta.dirname, '..')
const GATE = join(ROOT, 'plugins', 'claude', 'hook.sh')
const CALLS = 5

export async function* hook(): AsyncGenerator<Row> {
  const root = mkdtempSync(join(tmpdir(), 'ralph-bench-hook-'))
  try {
    yield* withoutLoop(place(root, 'idle'))
    yield* inVault(join(root, 'vault'))
    yield* withLoop(root)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  const size = statSync(join(ROOT, 'dist', 'hook.cjs')).size / 1_000
  yield {
    what: 'hook: the program it loads',
    measured: { median: size, calm: size },
    unit: 'KB',
    figure: { value: size, unit: 'KB' },
    budget: 60,
  }
}

async function* withoutLoop(idle: Place): AsyncGenerator<Row> {
  const times = await sideBySide(20, {
    stop: () => idle.time('stop', idle.stopped('worked')),
    prompt: () => idle.time('prompt', idle.typed('Explain this file.')),
    shell: () => timeStarts('/bin/sh', ['-c', ':']),
  })
  const shell = spread(times.shell)
  for (const event of ['stop', 'prompt'] as const) {
    const measured = spread(times[event])
    yield {
      what: `hook, no loop: ${event}`,
      measured,
      unit: 'ms',
      yardstick: { what: 'sh -c :', measured: shell },
      figure: { value: measured.calm / shell.calm, unit: '×' },
      budget: 3,
    }
  }
}

/** The stop of a session whose task is done. Nobody waits for what it starts in the background, so `true` stands in for Node. */
async function* inVault(vault: string): AsyncGenerator<Row> {
  const script = join(vault, '.claude', 'hooks', 'stop.sh')
  for (const folder of ['.claude/hooks', 'Done', 'Ralph_State/.hook'])
    mkdirSync(join(vault, folder), { recursive: true })
  copyFileSync(join(ROOT, 'plugins', 'vault', 'stop.sh'), script)
  writeFileSync(join(vault, 'Done', 'report.md'), 'Write the report.\n')
  writeFileSync(join(vault, 'Ralph_State', '.hook', 'report'), 'report.md\n\n')
  writeFileSync(join(vault, 'hook.cjs'), '')
  const env = {
    PATH: process.env.PATH,
    HOME: vault,
    RALPH_HOME: vault,
    RALPH_NODE: '/bin/true',
    RALPH_TASK_ID: 'report',
  }
  const stop = () => {
    const { status, stdout } = spawnSync('/bin/sh', [script], { env, input: '{}', encoding: 'utf8' })
    if (status !== 0 || !stdout.includes('Task complete')) throw new Error(`The stop did not pass: ${stdout}`)
  }
  const times = await sideBySide(20, {
    stop: () => timeEach(CALLS, stop),
    shell: () => timeStarts('/bin/sh', ['-c', ':']),
  })
  const [measured, shell] = [spread(times.stop), spread(times.shell)]
  yield {
    what: 'vault stop, file in Done',
    measured,
    unit: 'ms',
    yardstick: { what: 'sh -c :', measured: shell },
    figure: { value: measured.calm / shell.calm, unit: '×' },
    budget: 3,
  }
}

async function* withLoop(root: string): AsyncGenerator<Row> {
  const small = place(root, 'small', 100_000)
  const large = place(root, 'large', 100_000_000)
  const inGit = place(root, 'git', 100_000)
  makeRepository(inGit.dir)
  for (const looping of [small, large, inGit])
    looping.ask('prompt', looping.typed('/ralph:loop Keep going forever. --max-iterations 0'))
  const times = await sideBySide(12, {
    small: () => small.step(),
    large: () => large.step(),
    inGit: () => inGit.step(),
    node: () => timeStarts(process.execPath, ['-e', '0']),
  })
  const node = spread(times.node)
  for (const [side, what] of [
    ['small', 'hook, a loop, transcript of 100 KB'],
    ['large', 'hook, a loop, transcript of 100 MB'],
  ] as const) {
    const measured = spread(times[side])
    yield {
      what,
      measured,
      unit: 'ms',
      yardstick: { what: 'node -e 0', measured: node },
      figure: { value: measured.calm / node.calm, unit: '×' },
      budget: 1.5,
    }
  }
  yield { what: 'hook, a loop, in a git repository of 1,000 files', measured: spread(times.inGit), unit: 'ms' }
}

type Place = ReturnType<typeof place>

/** A folder with its own home, and a session in it. */
function place(root: string, name: string, transcriptSize = 0) {
  const [dir, home] = [join(root, name, 'work'), join(root, name, 'home')]
  for (const folder of [dir, home]) mkdirSync(folder, { recursive: true })
  const transcript_path = join(root, name, 'transcript.jsonl')
  const file = openSync(transcript_path, 'w')
  ftruncateSync(file, transcriptSize)
  closeSync(file)
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    RALPH_HOME: join(home, '.ralph'),
    RALPH_NODE: process.execPath,
    CLAUDE_CODE_SESSION_ID: `bench-${name}`,
  }
  const about = { session_id: `bench-${name}`, transcript_path, cwd: dir, permission_mode: 'default' }
  const stopped = (last_assistant_message: string) =>
    JSON.stringify({ ...about, hook_event_name: 'Stop', stop_hook_active: false, last_assistant_message })
  const typed = (prompt: string) => JSON.stringify({ ...about, hook_event_name: 'UserPromptSubmit', prompt })
  const ask = (event: string, payload: string) => {
    const { status, stdout, error } = spawnSync('/bin/sh', [GATE, event], { env, input: payload, encoding: 'utf8' })
    if (error || status !== 0) throw new Error(`hook.sh ${event} failed.`, { cause: error })
    return stdout
  }
  let turn = 0
  return {
    dir,
    ask,
    stopped,
    typed,
    time: (event: string, payload: string) => timeEach(CALLS, () => ask(event, payload)),
    /** One turn after the other, each with a change. */
    async step(): Promise<number[]> {
      const times: number[] = []
      for (let call = 0; call < CALLS; call++) {
        turn += 1
        writeFileSync(join(dir, 'work.txt'), String(turn))
        appendFileSync(transcript_path, answerOf(turn))
        const start = performance.now()
        const answer = ask('stop', stopped(`Turn ${turn} has ended.`))
        times.push(performance.now() - start)
        if (!answer.includes('"decision":"block"')) throw new Error(`The loop did not continue: ${answer}`)
      }
      return times
    },
  }
}

/** The agent's last messages as Claude Code records them: a tool call and an answer. */
function answerOf(turn: number): string {
  const usage = { input_tokens: 3, cache_read_input_tokens: 20_000, output_tokens: 100 }
  const line = (id: string, type: string) =>
    JSON.stringify({ type: 'assistant', message: { id, role: 'assistant', content: [{ type, text: 'Done.' }], usage } })
  return `${line(`call-${turn}`, 'tool_use')}\n${line(`answer-${turn}`, 'text')}\n`
}

function makeRepository(dir: string): void {
  for (let file = 0; file < 1_000; file++) writeFileSync(join(dir, `file-${file}.txt`), `${file}\n`)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost', ...args], { cwd: dir })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'start')
}
