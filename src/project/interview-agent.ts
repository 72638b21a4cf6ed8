/** One agent of an interview: in the person's terminal until its turn has ended, or alone with answers given beforehand. */
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

/** Who asks, and how it is set. */
export type Interviewer = Pick<Request, 'self' | 'model' | 'permissions' | 'extraArgs'> & {
  name: string
  project: Project
  env: Readonly<Record<string, string | undefined>>
  now: () => number
  signal: AbortSignal
}

// An agent that was told to end its turn with done.md, and then does nothing for so long, has ended it. Where it tells
// the end itself, that is only for the case that it cannot: hooks are switched off, its model fails.
const QUIET_MS = { told: 60_000, untold: 10_000 }

/**
 * Resolves when the agent has ended: by itself, by the person, or by ralph once done.md is there and the turn is over. True: the
 * person broke it off.
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

/** Resolves when the turn that made done.md is over, or the signal comes. */
async function waitForTurn(done: string, turnEnd: string | undefined, signal: AbortSignal): Promise<void> {
  const either = new AbortController()
  const waiting = { signal: AbortSignal.any([signal, either.signal]) }
  await Promise.race([
    watchForQuiet(done, turnEnd === undefined ? QUIET_MS.untold : QUIET_MS.told, waiting),
    ...(turnEnd === undefined ? [] : [lastTurnEnd(turnEnd, done, waiting)]),
  ])
  either.abort()
}

/** A turn that ends without done.md was a question to the person. */
async function lastTurnEnd(turnEnd: string, done: string, waiting: { signal: AbortSignal }): Promise<void> {
  while ((await watchFor(turnEnd, waiting)) && !existsSync(done)) rmSync(turnEnd, { force: true })
}

/** Nobody is asked. Tells what went wrong, if anything did; an agent that cannot be used at all is thrown. */
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
