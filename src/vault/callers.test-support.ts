/** Callers of the task API in separate processes: each runs the given calls one after another. */
import { type Child, eventually, source, startScript } from '../host/place.test-support.ts'
import type { RalphWiggum } from './ralph-wiggum.ts'

export type Method = Exclude<keyof RalphWiggum, 'close'>

export type Answer = { method: Method; code?: string; message?: string; value?: Readonly<Record<string, unknown>> }

export type Caller = {
  pid: number
  /** Works on another vault from now on, by the clock that is written in a file. */
  open(vault: { path: string; home: string; clock: string }): void
  call(method: Method, input: unknown): void
  /** Resolves once all its calls are done. */
  done(): Promise<Answer[]>
  ended: Promise<unknown>
  /** What has been answered so far. */
  answers(): Answer[]
}

export function startCaller(): Caller {
  const child = startScript(PROGRAM)
  let asked = 0
  let from = 0
  const say = (words: object) => child.write(`${JSON.stringify(words)}\n`)
  const answers = () => readAnswers(child).slice(from)
  return {
    pid: child.pid,
    ended: child.ended,
    open(vault) {
      from = asked
      say({ open: vault })
    },
    call(method, input) {
      asked += 1
      say({ method, input })
    },
    answers,
    async done() {
      await eventually(() => readAnswers(child).length === asked, 60_000)
      return answers()
    },
  }
}

function readAnswers(child: Child): Answer[] {
  return child.lines().map((line) => JSON.parse(line))
}

const PROGRAM = `
  import { readFileSync } from 'node:fs'
  import { createInterface } from 'node:readline'
  const { RalphWiggum } = await import(${source('vault/ralph-wiggum.ts')})
  const { RalphError } = await import(${source('error.ts')})
  let ralph
  for await (const line of createInterface({ input: process.stdin })) {
    const { open, method, input } = JSON.parse(line)
    if (open) {
      await ralph?.close()
      const now = () => Number(readFileSync(open.clock, 'utf8'))
      ralph = new RalphWiggum({ vaultPath: open.path, home: open.home, env: {}, now, onNote: () => {} })
      continue
    }
    const answer = await ralph[method](input).then(
      (value) => ({ value: typeof value === 'object' ? value : { value } }),
      (error) => ({ code: error instanceof RalphError ? error.code : 'a bug', message: String(error.stack) }),
    )
    console.log(JSON.stringify({ method, ...answer }))
  }
  await ralph?.close()
`
