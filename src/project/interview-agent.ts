/** One agent of an interview: in the user's terminal until its turn ends, or alone with answers given in advance. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent, AgentEvent, Request } from '../agents/agent.ts'
import { parseAgent } from '../agents/index.ts'
import { readFiles } from '../drive/take-turn.ts'
import { RalphError } from '../error.ts'
import { editTexts, mask, openMask } from '../host/mask.ts'
import { runProgram } from '../host/process.ts'
import { watchFor, watchForQuiet } from '../host/signal-file.ts'
import { runInTerminal } from '../host/terminal.ts'
import type { Project } from './folder.ts'
import type { Round } from './interview.ts'

/** The agent and its settings. */
export type Interviewer = Pick<Request, 'self' | 'model' | 'permissions' | 'extraArgs'> & {
  name: string
  project: Project
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  signal: AbortSignal
}

// An agent that creates done.md and is then quiet for this long has ended its turn. If it reports
// the end itself, this is only a fallback: hooks may be disabled, or its model fails.
const QUIET_MS = { told: 60_000, untold: 10_000 }

/**
 * Resolves when the agent has ended: by itself, by the user, or by ralph once done.md exists and the turn has ended. True:
 * the user interrupted it.
 */
export async function talkInTerminal(interviewer: Interviewer, prompt: string, at: Round): Promise<boolean> {
  return withFolder(async (folder) => {
    const { project, env, signal } = interviewer
    const { agent, request } = requestOf(interviewer, { prompt, folder, mode: 'interactive' })
    const turnEnd = join(folder, 'turn-end')
    const telling = agent.turnEnd?.(turnEnd, folder)
    for (const { path, text } of telling?.files ?? []) writeFileSync(path, text, { mode: 0o600 })
    const {
      argv,
      env: own,
      dialogue,
    } = agent.command({
      ...request,
      extraArgs: [...(telling?.args ?? []), ...request.extraArgs],
    })
    if (dialogue) throw cannotTalk(agent.name)
    const ended = new AbortController()
    const over = new AbortController()
    const watching = waitForTurn(join(project.folder, 'done.md'), telling && turnEnd, ended.signal)
    const stopping = watching.then(() => over.abort())
    try {
      const exit = await runInTerminal({
        argv,
        dir: project.dir,
        env: { ...env, ...own, ...telling?.env, ...marksOf(at) },
        graceMs: agent.graceMs,
        signal: AbortSignal.any([over.signal, signal]),
      })
      return exit.signal === 'SIGINT' || exit.code === 130
    } finally {
      ended.abort()
      await stopping
    }
  })
}

function cannotTalk(name: string): RalphError {
  return new RalphError(
    'usage',
    `The agent "${name}" has no interactive mode. Choose another, or put your answers in a file: --non-interactive ANSWERS.`,
  )
}

/** Resolves when the turn that created done.md has ended, or on the signal. */
async function waitForTurn(done: string, turnEnd: string | undefined, signal: AbortSignal): Promise<void> {
  const either = new AbortController()
  const waiting = { signal: AbortSignal.any([signal, either.signal]) }
  await Promise.race([
    watchForQuiet(done, turnEnd === undefined ? QUIET_MS.untold : QUIET_MS.told, waiting),
    ...(turnEnd === undefined ? [] : [lastTurnEnd(turnEnd, done, waiting)]),
  ])
  either.abort()
}

/** A turn that ends without done.md was a question to the user. */
async function lastTurnEnd(turnEnd: string, done: string, waiting: { signal: AbortSignal }): Promise<void> {
  while ((await watchFor(turnEnd, waiting)) && !existsSync(done)) rmSync(turnEnd, { force: true })
}

/** Runs without questions. Returns what went wrong, if anything; throws if the agent cannot be used at all. */
export async function workAlone(
  interviewer: Interviewer,
  prompt: string,
  at: Round,
  show: (event: AgentEvent) => void,
): Promise<string | undefined> {
  return withFolder(async (folder) => {
    const { project, env, signal } = interviewer
    const { agent, request } = requestOf(interviewer, { prompt, folder, mode: 'headless' })
    const { argv, env: own, stdin, dialogue } = agent.command(request)
    const parser = agent.parser(request)
    const masking = openMask()
    const exit = await runProgram({
      argv,
      stdin,
      signal,
      dir: project.dir,
      graceMs: agent.graceMs,
      silenceMs: LONGEST_SILENCE_MS,
      ...(dialogue ? { dialogue } : {}),
      env: { ...env, ...own, ...marksOf(at) },
      onLine: (line, stream) => {
        const { events, ...answer } = parser.push(line, stream)
        for (const event of events) show(editTexts(event, masking.text))
        return answer
      },
    })
    const outcome = parser.end(exit, readFiles(parser.collect?.() ?? []))
    const words = mask(outcome.message ?? 'it gave no reason')
    if (outcome.kind === 'auth' || outcome.kind === 'config')
      throw new RalphError('agent-unusable', `The agent ${interviewer.name} cannot be used: ${words}`)
    return outcome.kind === 'ok' ? undefined : `${outcome.kind}: ${words}`
  })
}

const LONGEST_SILENCE_MS = 10 * 60_000

type Asked = Pick<Request, 'prompt' | 'folder' | 'mode'>

function requestOf(interviewer: Interviewer, asked: Asked): { agent: Agent; request: Request } {
  const { name, project, self, model, permissions, extraArgs, now } = interviewer
  const { agent, target } = parseAgent(name)
  const request = {
    ...asked,
    target,
    permissions,
    self,
    dir: project.dir,
    sandbox: false,
    extraArgs,
    ...(model === undefined ? {} : { model }),
    get at() {
      return now()
    },
  }
  return { agent, request }
}

function marksOf({ round, attempt }: Round): Record<string, string> {
  return { RALPH_ITERATION: String(round), RALPH_ATTEMPT: String(attempt) }
}

async function withFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-interview-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
