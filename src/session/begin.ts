/** A person starts a loop inside their own session: the loop is made, and the session is armed. */
import { resolve } from 'node:path'
import { keepStart } from '../drive/look.ts'
import { count } from '../engine/limits.ts'
import { ended, type Limits, type Loop, type Spec, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { type LoopCommand, parseLoopCommand } from '../formats/loop-command.ts'
import { unwrapPrompt } from '../formats/wrapped-prompt.ts'
import { findChecks } from '../host/check.ts'
import { loadConfig, readText } from '../host/config.ts'
import { excludeFaces } from '../host/exclude.ts'
import { realFolder } from '../host/files.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { LocalStore } from '../host/sqlite.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { type Answer, NOTHING, promptOf } from './answer.ts'
import { arm, disarm, forgetOld, isSessionId, loadArmed, processOf, reserve } from './armed.ts'
import { begunNotes, facelessNote } from './begun.ts'
import { type Desk as BareDesk, loadKnown } from './desk.ts'
import { chooseFace, writeFace } from './face.ts'
import { type Context, HOSTS, type Host, type HostName } from './hosts.ts'
import { subagentArgs } from './subagent.ts'

/** A desk whose store can also be asked about other loops. */
export type Desk = Omit<BareDesk, 'store'> & { store(): LocalStore }

export type Asked = { host: HostName; session: string; dir: string; args: string }

export async function beginLoop(desk: Desk, { host: name, session, dir: folder, args }: Asked): Promise<Answer> {
  const host = HOSTS[name]
  if (!isSessionId(session)) throw new RalphError('usage', `${host.title} named no session that a loop can belong to.`)
  const dir = realFolder(folder)
  const command = parseLoopCommand(args)
  const again = await sameAgain(desk, session, { host, command })
  if (again) return again
  const context = contextOf(command, host)
  const { loop, tree } = await makeLoop(desk, resolveSpec(desk, { hosting: host, dir, command }))
  if (!reserve(desk.home, session, desk.now())) return NOTHING
  await desk
    .store()
    .create(loop)
    .catch((cause) => {
      disarm(desk.home, session)
      throw cause
    })
  const show = begunNotes(loop.spec, host, desk.env)
  if (context === 'process') {
    arm(desk.home, session, { loop: loop.id, host: name, face: '', context, since: 0 })
    return { loop, context, show }
  }

  await keepStart({ tree, show: desk.show }, loop)
  const face = await chooseFace(desk, dir, { host: name, session })
  await excludeFaces(dir, host.folder).catch(() => {}) // a face that is shown by `git status` is no harm
  writeFace(face, { loop, session })
  arm(desk.home, session, { loop: loop.id, host: name, face, context, since: 0, ...processOf(desk.env) })
  return {
    loop,
    context,
    prompt: promptOf(loop, context),
    fresh: context === 'fresh',
    show: face ? show : [...show, facelessNote(host)],
  }
}

function contextOf({ context = 'same' }: LoopCommand, { contexts, title }: Host): Context {
  if (contexts.includes(context)) return context
  throw new RalphError(
    'usage',
    `--context ${context} is not to be had inside ${title}, only ${contexts.join(', ')}. \`ralph run\` begins every iteration anew.`,
  )
}

async function makeLoop({ home, now }: Desk, spec: Spec): Promise<{ loop: Loop; tree: Tree }> {
  const id = newLoopId()
  const tree = await openTree({ dir: spec.work.dir, home, loop: id })
  const { checkpoints } = tree
  const state = await tree.look()
  const gitDir = 'none' in checkpoints ? {} : { gitDir: checkpoints.repo.gitDir }
  const start = { at: now(), ...(state === undefined ? {} : { tree: state }) }
  return { tree, loop: startLoop(id, { ...spec, work: { ...spec.work, ...gitDir } }, start) }
}

const DAY_MS = 86_400_000
const AT_ONCE_MS = 10_000

/** A session has one loop. Where hooks are set up twice, the second one asks for the same loop again, and is given it. */
async function sameAgain(
  desk: Desk,
  session: string,
  { host, command }: { host: Host; command: LoopCommand },
): Promise<Answer | undefined> {
  const open = async (id: string) => {
    const loop = await loadKnown(desk, id)
    return loop && !ended(loop) ? loop : undefined
  }
  await forgetOld(desk.home, desk.now() - DAY_MS, async (id) => (await open(id)) === undefined)
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await open(armed.loop))
  if (!loop) return undefined
  const { tally, spec } = loop
  const isSame = tally.iteration === 0 && spec.prompt === command.prompt && desk.now() - tally.startedAt < AT_ONCE_MS
  if (isSame || tally.startedAt > desk.began)
    return { loop, context: armed.context, prompt: promptOf(loop, armed.context), show: [] }
  throw new RalphError(
    'usage',
    `This session has loop ${loop.id} already, after ${count(tally.iteration, 'iteration')}. See it with ${host.types('status')}, end it with ${host.types('cancel')}.`,
  )
}

function resolveSpec(
  desk: Desk,
  { hosting, dir, command }: { hosting: Host; dir: string; command: LoopCommand },
): Spec {
  const config = loadConfig(desk.home, dir)
  const text = command.file === undefined ? command.prompt : readText(resolve(dir, command.file), 'prompt')
  if (!text.trim()) throw new RalphError('usage', `The prompt file ${command.file} is empty.`)
  const wrapped = unwrapPrompt(text)
  const verify = command.checks.length > 0 ? command.checks : (config.verify ?? [])
  const checks = [...new Set(verify.flatMap((check) => (check === 'auto' ? foundChecks(dir) : [check])))]
  return {
    prompt: wrapped?.prompt ?? text,
    promise: command.promise ?? wrapped?.promise ?? config.completion_promise ?? '',
    signals: [...new Set(['TASK_COMPLETE', ...(config.completion_signals ?? [])])],
    checks,
    until: false,
    stages: [],
    limits: limitsOf(desk, command, { config, wrapped: wrapped?.maxIterations }),
    work: {
      dir,
      agent: hosting.agent,
      permissions: 'bypass',
      context: 'fresh',
      silenceMinutes: 10,
      agentArgs: command.subagent === undefined ? [] : subagentArgs(command.subagent, dir, desk.env),
      checkMinutes: hosting.hookMinutes === undefined ? 10 : (hosting.hookMinutes * 0.9) / Math.max(1, checks.length),
    },
  }
}

function limitsOf(
  { env }: Desk,
  command: LoopCommand,
  { config, wrapped }: { config: Config; wrapped: number | undefined },
): Limits {
  const configured = config.max_iterations === 'auto' ? undefined : config.max_iterations
  const minutes =
    command.timeoutMinutes ??
    environmentNumber(env, 'RALPH_TIMEOUT_MINUTES', { shape: /^\d{1,9}(\.\d+)?$/, expected: 'a number' }) ??
    config.timeout_minutes
  return {
    iterations: command.maxIterations ?? environmentNumber(env, 'RALPH_MAX_ITERATIONS') ?? wrapped ?? configured ?? 10,
    noProgress: config.circuit_breaker?.no_progress_limit ?? 3,
    sameError: config.circuit_breaker?.same_error_limit ?? 5,
    ...(minutes === undefined ? {} : { minutes }),
    ...(config.max_cost_usd === undefined ? {} : { costUsd: config.max_cost_usd }),
  }
}

const WHOLE = { shape: /^\d{1,9}$/, expected: 'a whole number' }

function environmentNumber(env: Desk['env'], name: string, { shape, expected } = WHOLE): number | undefined {
  const value = env[name]
  if (!value || value === 'auto') return undefined
  if (!shape.test(value)) throw new RalphError('usage', `${name} must be ${expected}, but is "${value}".`)
  return Number(value)
}

function foundChecks(dir: string): string[] {
  const found = findChecks(dir)
  if (found.length > 0) return found
  throw new RalphError('usage', `--verify auto found no check in ${dir}. Name one: --verify "make test".`)
}
