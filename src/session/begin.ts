/** A person starts a loop inside their own session: the loop is made, and the session is armed. */
import { join, resolve } from 'node:path'
import { keepStart } from '../drive/turn-ended.ts'
import { claimTag } from '../engine/claim.ts'
import { count } from '../engine/limits.ts'
import { ended, type Spec, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type LoopCommand, parseLoopCommand } from '../formats/loop-command.ts'
import { canStart } from '../host/check.ts'
import { loadConfig, readText } from '../host/config.ts'
import { excludeFaces } from '../host/exclude.ts'
import { realFolder } from '../host/files.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { Store } from '../host/store.ts'
import { openTree } from '../host/tree.ts'
import type { LoopRequest, Place } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import { type Answer, NOTHING, type Note, promptOf } from './answer.ts'
import { arm, disarm, forgetOld, isSessionId, loadArmed, processOf, reserve } from './armed.ts'
import type { Desk as BareDesk } from './desk.ts'
import { canHaveFace, FACE, readFace, writeFace } from './face.ts'
import { HOSTS, type Host, type HostName } from './hosts.ts'
import { subagentArgs } from './subagent.ts'

/** A desk whose store can also be asked about other loops. */
export type Desk = Omit<BareDesk, 'store'> & { store(): Store }

export type Asked = { host: HostName; session: string; dir: string; args: string }

export async function beginLoop(desk: Desk, { host: name, session, dir: folder, args }: Asked): Promise<Answer> {
  const host = HOSTS[name]
  if (!isSessionId(session)) throw new RalphError('usage', `${host.title} named no session that a loop can belong to.`)
  const dir = realFolder(folder)
  const command = parseLoopCommand(args)
  const again = await sameAgain(desk, session, { host, command })
  if (again) return again
  const context = command.context ?? 'same'
  if (!host.contexts.includes(context))
    throw new RalphError(
      'usage',
      `--context ${context} is not to be had inside ${host.title}, only ${host.contexts.join(', ')}. \`ralph run\` begins every iteration anew.`,
    )
  const id = newLoopId()
  const { look, seen, checkpoints } = await openTree({ dir, home: desk.home, loop: id })
  const place: Place = {
    dir,
    ...('none' in checkpoints ? {} : { gitDir: checkpoints.repo.gitDir }),
    owner: { kind: 'session' },
    env: desk.env,
    config: loadConfig(desk.home, dir),
    history: () => desk.store().history(),
  }
  const spec = withinHook(await resolveSpec(requestOf(desk, { host, dir, command }), place), host)
  const tree = await look()
  const loop = startLoop(id, spec, { at: desk.now(), ...(tree === undefined ? {} : { tree }) })
  if (!reserve(desk.home, session, desk.now())) return NOTHING
  await desk
    .store()
    .create(loop)
    .catch((cause) => {
      disarm(desk.home, session)
      throw cause
    })
  const begun: Note[] = [{ level: 'info', text: settingsOf(spec, host) }, ...doubts(spec, desk.env)]
  if (context === 'process') {
    arm(desk.home, session, { loop: id, host: name, face: '', context, since: 0 })
    return { loop, context, show: [...begun] }
  }

  await keepStart({ tree: { look, seen, checkpoints }, show: desk.show }, loop)
  const face = await chooseFace(desk, dir, { host: name, session })
  await excludeFaces(dir, host.folder).catch(() => {}) // a face that is shown by `git status` is no harm
  writeFace(face, { loop, session })
  arm(desk.home, session, { loop: id, host: name, face, context, since: 0, ...processOf(desk.env) })
  return {
    loop,
    context,
    prompt: promptOf(loop, context),
    fresh: context === 'fresh',
    show: [
      ...begun,
      ...(face
        ? []
        : [
            {
              level: 'warning',
              text: `ralph: ${host.folder} cannot hold this loop as a file; all else works.`,
            } as const,
          ]),
    ],
  }
}

const DAY_MS = 86_400_000
const AT_ONCE_MS = 10_000

/** A session has one loop. Where hooks are set up twice, the second one asks for the same loop again, and is given it. */
async function sameAgain(
  desk: Desk,
  session: string,
  { host, command }: { host: Host; command: LoopCommand },
): Promise<Answer | undefined> {
  const store = desk.store()
  const open = async (id: string) => {
    const loop = await store.load(id).catch(() => undefined) // of a home that was cleared
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

function requestOf(
  { env }: Desk,
  { host, dir, command }: { host: Host; dir: string; command: LoopCommand },
): LoopRequest {
  const { file, promise, checks, maxIterations, timeoutMinutes: minutes, subagent } = command
  const prompt = file === undefined ? command.prompt : readText(resolve(dir, file), 'prompt')
  if (!prompt.trim()) throw new RalphError('usage', `The prompt file ${file} is empty.`)
  return {
    prompt,
    checks,
    agents: [host.agent],
    agentArgs: subagent === undefined ? [] : subagentArgs(subagent, dir, env),
    limits: {
      ...(maxIterations === undefined ? {} : { iterations: maxIterations }),
      ...(minutes === undefined ? {} : { minutes }),
    },
    ...(promise === undefined ? {} : { promise }),
  }
}

/** The checks of a loop must end before the host gives its hook up. */
function withinHook(spec: Spec, { hookMinutes }: Host): Spec {
  if (hookMinutes === undefined) return spec
  const checkMinutes = (hookMinutes * 0.9) / Math.max(1, spec.checks.length)
  return { ...spec, work: { ...spec.work, checkMinutes } }
}

/** The file of this name, unless another loop has it, or it is not ralph's to overwrite. Empty where there can be none. */
export async function chooseFace(
  desk: Desk,
  dir: string,
  { host, session }: { host: HostName; session: string },
): Promise<string> {
  const folder = join(dir, HOSTS[host].folder)
  if (!canHaveFace(dir, join(folder, FACE))) return ''
  const usual = join(folder, FACE)
  const found = readFace(usual)
  if (found.kind === 'gone') return usual
  const own = join(folder, `ralph-loop.${session}.local.md`)
  if (found.kind !== 'file' || !found.file.loopId) return own
  const other = await desk
    .store()
    .load(found.file.loopId)
    .catch(() => undefined) // of another home
  return other && (ended(other) || found.file.sessionId === session) ? usual : own
}

const LEFT_IN = /(?:^|\s)(?:--|—)(verify|max-iterations|completion-promise|timeout|context|file)\b/i

/** What may not have been meant so. */
function doubts({ prompt, checks, work }: Spec, env: Desk['env']): Note[] {
  const option = LEFT_IN.exec(prompt)?.[1]?.toLowerCase()
  const left =
    option &&
    `--${option} was taken for a part of the prompt. Put its value in quotes, and options before or behind the prompt.`
  const missing = checks.filter((check) => !canStart(check, work.dir, env.PATH))
  return [
    ...(left ? [left] : []),
    ...missing.map((check) => `The program of the check "${check}" is not here yet. Without it the loop will halt.`),
  ].map((text) => ({ level: 'warning', text: `ralph: ${text}` }))
}

/** What was understood, so that nobody finds out later that a limit was not taken. */
function settingsOf({ checks, promise, signals, limits }: Spec, host: Host): string {
  const parts = [
    limits.iterations > 0 ? `at most ${limits.iterations} iterations` : 'no limit on iterations',
    ...(limits.minutes === undefined ? [] : [`${limits.minutes} minutes`]),
    `done when it says ${promise ? claimTag(promise) : signals[0]}`,
    checks.length > 0 ? `checked by ${checks.join(', ')}` : 'no check, so its word is taken',
  ]
  return `ralph: the loop begins: ${parts.join(' · ')}. ${host.types('status')} shows it, ${host.types('cancel')} ends it.`
}
