/** One turn of an agent: build its command, run it, read what it said, look at what it changed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { McpServer, Outcome, Parser, Request } from '../agents/agent.ts'
import { parseAgent } from '../agents/index.ts'
import type { Fact, Loop, Turn } from '../engine/loop.ts'
import { type BoundedLog, boundLog } from '../host/bounded-log.ts'
import { lowMbFor, watchRoom } from '../host/disk-room.ts'
import { type Ended, findProgram, runProgram } from '../host/process.ts'
import { reap } from '../host/process-tree.ts'
import { type Fenced, type Sandboxed, sandboxFor } from '../host/sandbox.ts'
import { gitPlaces } from '../host/sandbox-git.ts'
import { type Secrets, secretsOf } from '../host/sealed.ts'
import { waitForRoom } from '../host/shortage.ts'
import { readTurnLog, type TurnLog } from '../host/transcript.ts'
import { REPORT_TOOLS } from '../prompt/report-tools.ts'
import { buildTurnPrompt } from '../prompt/turn-prompt.ts'
import { linkArgs, linked } from './chain.ts'
import type { TurnNext } from './drive.ts'
import type { Workbench } from './hands.ts'
import { lookAtSettings } from './look-at-settings.ts'
import { maskedOutput } from './masked-output.ts'
import { issuePass, judgeWithReports, writePrivately } from './pass.ts'
import { promiseMinutes, promiseTurn, type TurnLimits } from './promised.ts'
import { keepStart, turnEnded } from './turn-ended.ts'
import type { TakeUp } from './visit.ts'

export async function takeTurn(bench: Workbench, loop: Loop, next: TurnNext, signal: AbortSignal): Promise<Fact> {
  const folder = lendFolder()
  promiseMinutes(bench, 0)
  try {
    const fact = await turnIn(folder, bench, { loop, next, signal })
    await lookAtSettings(bench, loop)
    return fact
  } finally {
    folder.remove()
  }
}

/** A folder created on first use: most agents need none, and creating it costs more than saving the turn. */
function lendFolder(): Lent {
  let made: string | undefined
  return {
    lent: () => made,
    path: () => (made ??= mkdtempSync(join(tmpdir(), 'ralph-turn-'))),
    remove: () => {
      if (made !== undefined) rmSync(made, { recursive: true, force: true })
    },
  }
}

/** `lent`: whether it was used. */
type Lent = { path(): string; lent(): string | undefined; remove(): void }

type Going = { loop: Loop; next: TurnNext; signal: AbortSignal }

async function turnIn({ path: folder, lent }: Lent, bench: Workbench, { loop, next, signal }: Going): Promise<Fact> {
  const { now } = bench
  const { dir } = loop.spec.work
  // If there was a baseline, the start was saved before it.
  if (next.iteration === 1 && next.attempt === 1 && !loop.tally.before) await keepStart(bench, loop)
  const secrets = secretsOf(bench.home, [loop.spec, next.heard])
  const { agent, target } = parseAgent(secrets.open(agentOf(loop, next)))
  const mcp = loop.spec.work.mcp && (await issuePass(bench, loop, next))
  const prompt = await promptOf(bench, loop, next, mcp !== undefined)
  const asked = { prompt: secrets.open(prompt), target, folder, next, ...(mcp ? { mcp } : {}) }
  const request = requestOf(bench, loop, asked, secrets)
  const { argv: bare, env, stdin, dialogue, files = [] } = agent.command(request)
  const program = bare[0] ?? ''
  if (!findProgram(program, dir, bench.env.PATH)) return { kind: 'turned', at: now(), turn: missing(program) }
  const fenced = fenceFor(bench, loop, { program, env: { ...bench.env, ...env }, own: agent.own, folder: lent() })
  const argv = [...fenced.argv, ...bare]
  const parser = agent.parser(request)
  const removeFiles = writePrivately(files)
  const log = await waitForRoom(async () => bench.store.transcripts.openTurn(loop.id, next.iteration))
  const limits = limitsOf(loop, next, { graceMs: agent.graceMs, now: now() })
  const record = recordIn(log, bench, { loop, next, limits })
  const watch = new AbortController()
  try {
    await begin(bench, log, { next, prompt: request.prompt, command: bare, secrets })
    bench.show({ kind: 'turn-start' }, loop)
    const output = maskedOutput(secrets)
    const exit = await runProgram({
      finished: whenFinished(bench, watch.signal),
      argv,
      dir,
      stdin,
      signal,
      ...limits,
      ...(dialogue ? { dialogue } : {}),
      env: { ...bench.env, ...env, ...fenced.env, ...marksOf(loop, next), ...bench.task?.env },
      onPiece: (text, stream) => record.add(output.piece(text, stream)),
      onLine: (line, stream) => {
        const { events, ...answer } = parser.push(line, stream)
        for (const event of events) bench.show({ kind: 'agent', event: output.event(event, line, stream) }, loop)
        return answer
      },
    })
    record.add(output.rest())
    const dropped = record.end()
    promiseMinutes(bench, 0)
    log.write([{ at: now(), exit: exit.code, signal: exit.signal }])
    const outcome = outcomeOf(parser, exit)
    if (exit.stopped === 'told') return { kind: 'lost', at: now(), ...costOf(outcome) }
    const judge = mcp ? await judgeWithReports(bench, loop, next) : bench.task?.judge
    const ended = { loop, next, prompt: request.prompt, outcome, mask: secrets.mask }
    const fact = await turnEnded({ ...bench, judge }, ended)
    return dropped === undefined ? fact : { ...fact, turn: { ...fact.turn, dropped } }
  } finally {
    record.close()
    watch.abort()
    log.close()
    removeFiles()
  }
}

function limitsOf(
  { spec }: Loop,
  { deadline }: TurnNext,
  { graceMs, now }: { graceMs: number; now: number },
): TurnLimits {
  const silenceMs = spec.work.silenceMinutes * 60_000
  return { graceMs, silenceMs, ...(deadline === undefined ? {} : { deadlineMs: deadline - now }) }
}

async function promptOf(bench: Workbench, loop: Loop, next: TurnNext, reports: boolean): Promise<string> {
  const own = bench.task?.prompt?.(loop, next)
  return own ?? buildTurnPrompt(await linked(bench.store, loop, next), next, reports ? REPORT_TOOLS : undefined)
}

type Inside = Pick<Sandboxed, 'program' | 'env' | 'own' | 'folder'>

/** Uses the known repository, not what an agent has left there. */
function fenceFor({ home, tree: { checkpoints } }: Workbench, { spec: { work } }: Loop, inside: Inside): Fenced {
  const { dir, worktree, sandbox, sandboxAllow: allowed = [] } = work
  if (!sandbox) return { argv: [], env: {} }
  const git = gitPlaces(dir, 'none' in checkpoints ? undefined : checkpoints.repo, worktree)
  return sandboxFor({ ...inside, dir, home, allowed, git })
}

/** Fires when the agent signals through a file that it is finished, unless nobody is watching any longer. */
function whenFinished({ task }: Workbench, watch: AbortSignal): AbortSignal {
  const finished = new AbortController()
  void task?.finished?.(watch).then(() => watch.aborted || finished.abort())
  return finished.signal
}

/** Agent output goes there, as far as there is room. Observers learn when there is none. */
function recordIn(
  log: TurnLog,
  bench: Workbench,
  { loop, next, limits }: Omit<Going, 'signal'> & { limits: TurnLimits },
): BoundedLog & { close(): void } {
  const { transcriptMb: limitMb } = loop.spec.work
  const note = (text: string) => bench.show({ kind: 'note', text }, loop)
  const full = `Iteration ${next.iteration} printed more than fits into its transcript (transcript_mb: ${limitMb}). The rest is not saved.`
  const { add, end } = boundLog(log, { limitMb, now: bench.now, onFull: () => note(full) })
  const isAlive = promiseTurn(bench, limits)
  return {
    add(printed) {
      isAlive()
      add(printed)
    },
    end,
    close: watchRoom(bench.home, { lowMb: lowMbFor(limitMb), note }),
  }
}

type Beginning = { next: TurnNext; prompt: string; command: readonly string[]; secrets: Secrets }

/** The prompt is on disk before the agent starts, and with it the comments count as delivered. */
async function begin(
  { store, now }: Workbench,
  log: TurnLog,
  { next, prompt, command, secrets }: Beginning,
): Promise<void> {
  const { attempt, iteration, comments } = next
  log.write([{ at: now(), attempt, prompt: secrets.mask(prompt), command: command.map(secrets.mask) }])
  await log.arrived?.()
  if (comments) await store.comments.deliver(comments, iteration)
}

/** An agent that signalled the end and then had to be stopped has finished its turn. */
function outcomeOf(parser: Parser, exit: Ended): Outcome {
  const said = parser.end(exit, readFiles(parser.collect?.() ?? []))
  return exit.lingered && ENDED_BY_FORCE.has(said.kind) ? { ...said, kind: 'ok' } : said
}

const ENDED_BY_FORCE: ReadonlySet<Outcome['kind']> = new Set(['killed', 'crash', 'unknown'])

/** Stops what a dead driver left running; a loop that it left inside a turn continues with another attempt. */
export function takeUp(bench: Finding): TakeUp {
  return {
    reap,
    loss: async (loop, now) => (loop.next.kind === 'turn' ? findLoss({ ...bench, now }, loop, loop.next) : undefined),
  }
}

export type Finding = Pick<Workbench, 'store' | 'now' | 'self'>

/** An attempt that is in the transcript but not in the store was lost; its cost counts. */
async function findLoss(bench: Finding, loop: Loop, next: TurnNext): Promise<Fact | undefined> {
  const { agent, target } = parseAgent(agentOf(loop, next))
  const parser = agent.parser(requestOf(bench, loop, { prompt: '', target, folder: () => '', next }))
  let begun = false
  let lost = false
  for await (const entry of readTurnLog(bench.store.transcripts, loop.id, next.iteration)) {
    if ('attempt' in entry) lost = entry.attempt === next.attempt
    begun ||= lost
    if (lost && 'out' in entry) for (const line of entry.out.split('\n')) parser.push(line, 'out')
  }
  if (!begun) return undefined
  return { kind: 'lost', at: bench.now(), ...costOf(parser.end({ code: null, signal: 'SIGKILL' }, new Map())) }
}

type Asked = { prompt: string; target: string; folder: () => string; next: TurnNext; mcp?: McpServer }

function agentOf({ spec }: Loop, { agent }: TurnNext): string {
  return agent ?? spec.work.agent
}

/** `secrets`: those of the loop. Absent: nothing is started. */
function requestOf(
  bench: Finding,
  { spec, tally }: Loop,
  { prompt, target, folder, next, mcp }: Asked,
  secrets?: Secrets,
): Request {
  const { dir, model, permissions, context } = spec.work
  const agentArgs = [...linkArgs(spec.work, next), ...spec.work.agentArgs]
  // A session belongs to its agent.
  const own = tally.session?.agent === next.agent
  const resume = context === 'same' && !next.fresh && own ? tally.session : undefined
  return {
    prompt,
    target,
    get folder() {
      return folder()
    },
    dir,
    extraArgs: secrets ? agentArgs.map(secrets.open) : agentArgs,
    mode: 'headless',
    permissions,
    sandbox: spec.work.sandbox !== undefined,
    self: bench.self,
    get at() {
      return bench.now()
    },
    ...(model === undefined ? {} : { model }),
    ...(resume === undefined ? {} : { resume }),
    ...(mcp ? { mcp } : {}),
  }
}

function marksOf(loop: Loop, { iteration, attempt }: TurnNext): Record<string, string> {
  return { RALPH_LOOP_ID: loop.id, RALPH_ITERATION: String(iteration), RALPH_ATTEMPT: String(attempt) }
}

function costOf({ tokens, costUsd }: Outcome): { tokens: number; costUsd?: number } {
  return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
}

function missing(program: string): Turn {
  return {
    end: 'unusable',
    claim: { kind: 'none' },
    words: `"${program}" was not found. Install it, or give its path.`,
    ranTests: false,
    tokens: 0,
  }
}

/** The existing files, by path. */
export function readFiles(paths: readonly string[]): Map<string, string> {
  return new Map(
    paths.flatMap((path) => {
      try {
        return [[path, readFileSync(path, 'utf8')] as const]
      } catch {
        return [] // the agent did not write it
      }
    }),
  )
}
