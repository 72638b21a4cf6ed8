/** One turn of an agent: build its command, run it, read what it said, look at what it changed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Outcome, Request } from './agents/agent.ts'
import { parseAgent } from './agents/index.ts'
import { toTurn } from './agents/turn.ts'
import type { Fact, Loop, Turn } from './engine/loop.ts'
import { allChecks, openStages } from './engine/stages.ts'
import { maskSecrets } from './formats/secrets.ts'
import { findProgram, runProgram } from './host/process.ts'
import { reap } from './host/process-tree.ts'
import { readTurnLog } from './host/transcript.ts'
import { buildTurnPrompt } from './prompt/turn-prompt.ts'
import type { TurnNext, Workbench } from './run.ts'

export async function takeTurn(bench: Workbench, loop: Loop, next: TurnNext, signal: AbortSignal): Promise<Fact> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-turn-'))
  try {
    return await turnIn(folder, bench, { loop, next, signal })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type Going = { loop: Loop; next: TurnNext; signal: AbortSignal }

async function turnIn(folder: string, bench: Workbench, { loop, next, signal }: Going): Promise<Fact> {
  const { now } = bench
  const { dir, agent: name, silenceMinutes } = loop.spec.work
  const { agent, target } = parseAgent(name)
  const request = requestOf(bench, loop, { prompt: buildTurnPrompt(loop, next), target, folder })
  const { argv, env, stdin, dialogue } = agent.command(request)
  const program = argv[0] ?? ''
  if (!findProgram(program, dir, bench.env.PATH)) return { kind: 'turned', at: now(), turn: missing(program) }

  const parser = agent.parser(request)
  const log = bench.store.transcripts.openTurn(loop.id, next.iteration)
  try {
    log.write([{ at: now(), attempt: next.attempt, prompt: request.prompt, command: argv }])
    bench.show({ kind: 'turn-start' }, loop)
    const exit = await runProgram({
      ...{ argv, dir, stdin, signal, graceMs: agent.graceMs, silenceMs: silenceMinutes * 60_000 },
      ...(dialogue ? { dialogue } : {}),
      ...(next.deadline === undefined ? {} : { deadlineMs: next.deadline - now() }),
      env: { ...bench.env, ...env, ...marksOf(loop, next) },
      onPiece: (text, stream) =>
        log.write([stream === 'out' ? { out: maskSecrets(text) } : { err: maskSecrets(text) }]),
      onLine: (line, stream) => {
        const { events, ...answer } = parser.push(line, stream)
        for (const event of events) bench.show({ kind: 'agent', event }, loop)
        return answer
      },
    })
    log.write([{ at: now(), exit: exit.code, signal: exit.signal }])
    const outcome = parser.end(exit, readFiles(parser.collect?.() ?? []))
    if (exit.stopped === 'told') return { kind: 'lost', at: now(), ...costOf(outcome) }
    return { kind: 'turned', at: now(), turn: await lookAt(bench, loop, request.prompt, outcome) }
  } finally {
    log.close()
  }
}

/** What became of a turn whose ralph died: its processes are ended, and what it cost is read from the transcript. */
export async function findLoss(bench: Workbench, loop: Loop): Promise<Fact> {
  await reap(loop.id)
  const { next } = loop
  if (next.kind !== 'turn') return { kind: 'lost', at: bench.now() }
  const { agent, target } = parseAgent(loop.spec.work.agent)
  const parser = agent.parser(requestOf(bench, loop, { prompt: '', target, folder: '' }))
  let lost = false
  for await (const entry of readTurnLog(bench.store.transcripts.turnFile(loop.id, next.iteration))) {
    if ('attempt' in entry) lost = entry.attempt === next.attempt
    if (lost && 'out' in entry) for (const line of entry.out.split('\n')) parser.push(line, 'out')
  }
  return { kind: 'lost', at: bench.now(), ...costOf(parser.end({ code: null, signal: 'SIGKILL' }, new Map())) }
}

function requestOf(bench: Workbench, loop: Loop, turn: { prompt: string; target: string; folder: string }): Request {
  const { dir, agentArgs } = loop.spec.work
  return {
    ...turn,
    dir,
    extraArgs: agentArgs,
    mode: 'headless',
    permissions: 'bypass',
    self: bench.self,
    at: bench.now(),
  }
}

function marksOf(loop: Loop, { iteration, attempt }: TurnNext): Record<string, string> {
  return { RALPH_LOOP_ID: loop.id, RALPH_ITERATION: String(iteration), RALPH_ATTEMPT: String(attempt) }
}

async function lookAt(bench: Workbench, { spec, tally }: Loop, prompt: string, outcome: Outcome): Promise<Turn> {
  const claimable = {
    promise: spec.promise,
    signals: spec.signals,
    stages: openStages(spec, tally).map(({ name }) => name),
  }
  const tree = await bench.tree()
  return toTurn(outcome, { prompt, claimable, checks: allChecks(spec), ...(tree === undefined ? {} : { tree }) })
}

function costOf({ tokens, costUsd }: Outcome): { tokens: number; costUsd?: number } {
  return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
}

function missing(program: string): Turn {
  return {
    end: 'unusable',
    claim: { kind: 'none' },
    words: `"${program}" was not found. Install it, or name its path.`,
    ranTests: false,
    tokens: 0,
  }
}

function readFiles(paths: readonly string[]): Map<string, string> {
  return new Map(
    paths.flatMap((path) => {
      try {
        return [[path, readFileSync(path, 'utf8')] as const]
      } catch {
        return [] // the agent did not get to write it
      }
    }),
  )
}
