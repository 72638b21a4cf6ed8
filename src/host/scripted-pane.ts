/**
 * The program behind the scripted agent in a terminal: takes prompts like any interactive client, plays the steps of a
 * script, and calls its hook.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseScript, type Step } from '../formats/script.ts'

const [file = '', resumed = ''] = process.argv.slice(2)
const { turns } = parseScript(readFileSync(file, 'utf8'), file)
const session = resumed || randomUUID()
const folder = process.env.RALPH_PANE_FOLDER ?? '.'
const memory = join(folder, `session-${session}.json`)
const tell = JSON.parse(process.env.RALPH_PANE_TELL ?? '[]') as string[]

/** What is in the input line, and what it is doing. */
let typed = ''
let working = false
let question: ((yes: boolean) => void) | undefined
let asked = ''
let stopped = new AbortController()
let stoppedAt = Date.now()
const waiting: string[] = []
/** Presses of Enter that broke the line instead. */
let breaks = 0

process.stdin.setRawMode?.(true)
process.stdout.write('\u001b[?2004h')
draw()
await callHook({ event: 'started' })
let rest = ''
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  rest = take(rest + text)
  draw()
})

/** Reads keys and pastes; returns what is not complete yet. */
function take(text: string): string {
  let left = text
  while (left !== '') {
    if (left.startsWith(PASTE)) {
      const end = left.indexOf(PASTED)
      if (end < 0) return left
      if (!question) typed += left.slice(PASTE.length, end).replaceAll('\r', '\n')
      left = left.slice(end + PASTED.length)
      continue
    }
    if (PASTE.startsWith(left.slice(0, PASTE.length)) && left.length > 1) return left // the start of a paste
    const [key = ''] = left
    left = left.slice(key.length)
    press(key)
  }
  return ''
}

const PASTE = '\u001b[200~'
const PASTED = '\u001b[201~'

function press(key: string): void {
  if (key === '\u0003') process.exit(130)
  if (question) {
    if (key === 'y' || key === 'n') question(key === 'y')
    return
  }
  if (key === '\u001b') stopped.abort()
  else if (key === '\u007f') typed = typed.slice(0, -1)
  else if (key === '\r') submit()
  else if (key >= ' ') typed += key
}

function submit(): void {
  if (typed.trim() === '') return
  if (breaks < lineBreaks()) {
    breaks += 1
    typed += '\n'
    return
  }
  breaks = 0
  waiting.push(typed)
  typed = ''
  if (!working) void work()
}

async function work(): Promise<void> {
  for (let prompt = waiting.shift(); prompt !== undefined; prompt = waiting.shift()) {
    const steps = stepsOf(nextTurn())
    if (steps[0] && 'ignore' in steps[0]) continue
    appendFileSync(join(folder, 'prompts.jsonl'), `${JSON.stringify({ prompt, afterMs: Date.now() - stoppedAt })}\n`)
    working = true
    stopped = new AbortController()
    draw()
    await callHook({ event: 'prompt', prompt })
    print(`> ${prompt.split('\n')[0]}`)
    const said = await play(steps)
    working = false
    draw()
    stoppedAt = Date.now()
    await callHook({ event: 'stop', ...said })
  }
}

function lineBreaks(): number {
  const [first] = stepsOf(prompts() + 1)
  return first && 'line-breaks' in first ? first['line-breaks'] : 0
}

function stepsOf(turn: number): readonly Step[] {
  return turns[Math.min(turn, turns.length) - 1] ?? []
}

/** Counts this prompt. */
function nextTurn(): number {
  const turn = prompts() + 1
  mkdirSync(folder, { recursive: true })
  writeFileSync(memory, JSON.stringify(turn))
  return turn
}

/** How many prompts this session has had, even across a crash. */
function prompts(): number {
  try {
    return Number(JSON.parse(readFileSync(memory, 'utf8')))
  } catch {
    return 0 // none yet
  }
}

type Said = { outcome: string; last_assistant_message: string; error_message?: string; tokens: number; ran: string[] }

async function play(steps: readonly Step[]): Promise<Said> {
  const said: Said & { cost_usd?: number } = { outcome: 'completed', last_assistant_message: '', tokens: 0, ran: [] }
  for (const step of steps) {
    if (stopped.signal.aborted) return { ...said, outcome: 'aborted' }
    if ('text' in step) {
      said.last_assistant_message = step.text
      print(step.text)
    }
    if ('sleep' in step) await sleep(step.sleep * 1_000, undefined, { signal: stopped.signal }).catch(() => {})
    if ('usage' in step) {
      said.tokens += step.usage.tokens
      said.cost_usd = (said.cost_usd ?? 0) + (step.usage.costUsd ?? 0)
    }
    if ('edit' in step) {
      print(`edit ${step.edit.path}`)
      mkdirSync(dirname(resolve(step.edit.path)), { recursive: true })
      writeFileSync(step.edit.path, step.edit.content)
    }
    if ('shell' in step) {
      const [program = '', ...args] = step.shell
      print(`shell ${step.shell.join(' ')}`)
      said.ran.push(step.shell.join(' '))
      spawnSync(program, args, { stdio: 'ignore' })
    }
    if ('ask' in step && !(await permitted(step.ask))) print(`denied: ${step.ask}`)
    if ('fail' in step) {
      print(step.fail)
      process.exit(step.exit ?? 1)
    }
    if ('rate-limit' in step) {
      const { resetsInSeconds, message = 'rate limited' } = step['rate-limit']
      const reset = resetsInSeconds === undefined ? '' : `; try again in ${resetsInSeconds}s`
      return { ...said, outcome: 'error', error_message: `429 ${message}${reset}` }
    }
  }
  return stopped.signal.aborted ? { ...said, outcome: 'aborted' } : said
}

async function permitted(what: string): Promise<boolean> {
  asked = what
  const answered = new Promise<boolean>((answer) => {
    question = answer
    draw()
  })
  await callHook({ event: 'asks', question: what })
  const yes = await answered
  question = undefined
  await callHook({ event: 'answered' })
  return yes
}

/** One after the other, so that the hook calls arrive in order. */
async function callHook(what: object): Promise<void> {
  const [program, ...args] = tell
  if (program === undefined) return
  const call = spawn(program, args, { stdio: ['pipe', 'ignore', 'ignore'] })
  call.stdin.on('error', () => {})
  call.stdin.end(JSON.stringify({ host: 'claude', session_id: session, cwd: process.cwd(), ...what }))
  await new Promise((done) => call.on('close', done).on('error', done))
}

function print(line: string): void {
  process.stdout.write(`\r\u001b[2K${line.replaceAll('\n', '\r\n')}\r\n`)
  draw()
}

function draw(): void {
  const shown = typed.includes('\n') ? `[pasted ${typed.split('\n').length} lines]` : typed.slice(0, 60)
  const line = question ? `? ${asked} (y/n)` : `${working ? '✻ working (esc to interrupt) ' : ''}❯ ${shown}`
  process.stdout.write(`\r\u001b[2K${line}`)
}
