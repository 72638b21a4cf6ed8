/** Starts a loop inside the user's own session: creates the loop and arms the session. */
import { resolve } from 'node:path'
import { measuredFrom } from '../drive/earlier.ts'
import { lookAtLeft } from '../drive/look-at-settings.ts'
import { keepStart } from '../drive/turn-ended.ts'
import { visit } from '../drive/visit.ts'
import { count } from '../engine/limits.ts'
import { ended, type Loop, type Spec, startLoop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { type LoopCommand, parseLoopCommand } from '../formats/loop-command.ts'
import { unwrapPrompt } from '../formats/wrapped-prompt.ts'
import { loadConfig, readText } from '../host/config.ts'
import { excludeFaces } from '../host/exclude.ts'
import { realFolder } from '../host/files.ts'
import { newLoopId } from '../host/loop-id.ts'
import type { Store } from '../host/store.ts'
import { openTree, type Tree } from '../host/tree.ts'
import { unmatchedNotes } from '../host/unmatched.ts'
import { SIGNAL } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import { mustBeProvable } from '../request/provable.ts'
import type { LoopRequest, Place } from '../request/request.ts'
import { resolveSpec } from '../request/resolve.ts'
import { type Answer, NOTHING, opened } from './answer.ts'
import { type Armed, arm, disarm, forgetOld, isSessionId, loadArmed, processOf, reserve } from './armed.ts'
import { type Desk as BareDesk, loadKnown } from './desk.ts'
import { chooseFace, writeFace } from './face.ts'
import { give, givenTo } from './give.ts'
import { type Context, HOSTS, type Host, type HostName } from './hosts.ts'
import { markSpent } from './spent.ts'
import { beforeNotes, doubt, facelessNote, startNotes } from './start-notes.ts'
import { subagentArgs, type Untrusted } from './subagent.ts'
import { later } from './turn-over.ts'

/** A desk whose store also answers questions about other loops. */
export type Desk = Omit<BareDesk, 'store'> & { store(): Store }

/** `record`: the session's own transcript, if the host names it. */
export type Asked = {
  host: HostName
  session: string
  dir: string
  args: string
  record?: string | undefined
  /** The mark of a repository's agent that the user has agreed to. */
  trusts?: string | undefined
}

export async function beginLoop(desk: Desk, asked: Asked): Promise<Answer> {
  const { title, types } = HOSTS[asked.host]
  if (!isSessionId(asked.session)) throw new RalphError('usage', `${title} did not name a valid session for the loop.`)
  const command = parseLoopCommand(asked.args, types('loop'))
  return (await repeatedStart(desk, asked, command)) ?? begin(desk, asked, command)
}

/** A plain prompt with its own limit and promise. Undefined if it is not one, or if the session has another loop. */
export async function beginWrapped(desk: Desk, asked: Asked): Promise<Answer | undefined> {
  if (!isSessionId(asked.session) || !unwrapPrompt(asked.args)) return undefined
  const command = { prompt: asked.args, checks: [] }
  const found = await openLoopIn(desk, asked.session)
  if (found) return isSame(desk, found.loop, command) ? repeatAnswer(desk, found) : undefined
  const answer = await begin(desk, asked, command)
  const note = {
    level: 'info',
    text: 'ralph: the prompt has completion criteria, so it runs as a loop.',
  } as const
  return { ...answer, show: [note, ...answer.show] }
}

async function begin(desk: Desk, asked: Asked, command: LoopCommand): Promise<Answer> {
  const { host: name, session, dir: folder, record } = asked
  const host = HOSTS[name]
  const dir = realFolder(folder)
  const context = contextOf(command, host)
  const { home, env } = desk
  const subagents = subagentArgs(command.subagents ?? [], { dir, home, env, trusts: asked.trusts })
  if ('untrusted' in subagents) return trustFirst(subagents.untrusted)
  const { loop: created, tree } = await makeLoop(desk, { host, dir, command, chain: subagents.args })
  if (!reserve(desk.home, session, desk)) return NOTHING
  await desk
    .store()
    .create(created)
    .catch((cause) => {
      disarm(desk.home, session)
      throw cause
    })
  const unmatched = await unmatchedNotes(dir, created.spec.protect)
  const show = [...startNotes(created, host, desk.env), ...unmatched.map(doubt)]
  if (context === 'process') {
    arm(desk.home, session, { loop: created.id, host: name, face: '', context, since: 0 })
    return { loop: created, context, show }
  }

  await keepStart({ tree, show: desk.show }, created)
  const face = await chooseFace(desk, dir, { host: name, session })
  await excludeFaces(dir, host.folder).catch(() => {}) // a loop file in `git status` does no harm
  writeFace(face, { loop: created, session, home: desk.home })
  const armed = {
    loop: created.id,
    host: name,
    face,
    context,
    since: 0,
    ...given({ record, spent: markSpent(name, record) }),
    ...processOf(name, desk.env),
  }
  arm(desk.home, session, armed)
  const loop = await lookBefore(desk, created, tree)
  return {
    loop,
    context,
    prompt: give(desk, { session, armed }, await desk.store().load(loop.id)), // with the marks of secrets
    fresh: context === 'fresh',
    show: [...show, ...(face ? [] : [facelessNote(host)]), ...beforeNotes(loop)],
  }
}

/** The host asks the user if it can; otherwise the note says how to agree. */
function trustFirst({ name, path, text, mark }: Untrusted): Answer {
  const sentence = `ralph: the agent "${name}" comes from this repository (${path}) and is not trusted yet. Read it, then run: ralph trust ${path}`
  return { trust: { path, text, mark }, show: [{ level: 'error', text: sentence }] }
}

/** Runs the checks before any work. The user waits for this, so it is kept short. */
async function lookBefore(desk: Desk, created: Loop, tree: Tree): Promise<Loop> {
  if (created.next.kind !== 'check') return created
  const { env, stop, show } = desk
  return visit<Loop>(created.id, {
    store: desk.store(),
    now: desk.now,
    held: () => created,
    work: (held) => held.drive(later(() => desk.checker({ tree, env, now: held.now, stop, show }))),
  })
}

function contextOf({ context = 'same' }: LoopCommand, { contexts, title }: Host): Context {
  if (contexts.includes(context)) return context
  throw new RalphError(
    'usage',
    `--context ${context} is not available in ${title}, only ${contexts.join(', ')}. \`ralph run\` starts every iteration fresh.`,
  )
}

type Making = { host: Host; dir: string; command: LoopCommand; chain: string[][] }

async function makeLoop(desk: Desk, { host, dir, command, chain }: Making): Promise<{ loop: Loop; tree: Tree }> {
  const { home, env, now, store } = desk
  const id = newLoopId()
  const request = requestOf({ host, dir, command, chain })
  await lookAtLeft(store(), home, dir)
  const tree = await openTree({ dir, home, loop: id })
  const place: Place = {
    dir,
    ...('none' in tree.checkpoints ? {} : { gitDir: tree.checkpoints.repo.gitDir }),
    owner: { kind: 'session' },
    env,
    config: loadConfig(home, dir),
    history: () => store().history(),
  }
  const spec = withinHook(await resolveSpec(request, place), host)
  mustBeProvable(spec)
  const state = await tree.look()
  const measured = await measuredFrom(store(), spec, state)
  return { tree, loop: startLoop(id, measured, { at: now(), ...(state === undefined ? {} : { tree: state }) }) }
}

const DAY_MS = 86_400_000
const AT_ONCE_MS = 10_000

type Found = { loop: Loop; armed: Armed }

/** The session's loop, unless it has ended. */
async function openLoopIn(desk: Desk, session: string): Promise<Found | undefined> {
  const open = async (id: string) => {
    const loop = await loadKnown(desk, id)
    return loop && !ended(loop) ? loop : undefined
  }
  await forgetOld(desk.home, desk.now() - DAY_MS, async (id) => (await open(id)) === undefined)
  const armed = loadArmed(desk.home, session)
  const loop = armed && (await open(armed.loop))
  return loop && { loop, armed }
}

/** A session has one loop. When hooks are installed twice, the second one asks for the same loop again and gets it. */
async function repeatedStart(desk: Desk, { session, host }: Asked, command: LoopCommand): Promise<Answer | undefined> {
  const found = await openLoopIn(desk, session)
  if (!found) return undefined
  if (isSame(desk, found.loop, command)) return repeatAnswer(desk, found)
  const { id, tally } = found.loop
  const { types } = HOSTS[host]
  throw new RalphError(
    'usage',
    `This session already has loop ${id}, after ${count(tally.iteration, 'iteration')}. ${types('status')} shows it, ${types('cancel')} ends it.`,
  )
}

function isSame({ home, now, began }: Desk, { tally, spec }: Loop, { prompt }: LoopCommand): boolean {
  const wanted = unwrapPrompt(prompt)?.prompt ?? prompt
  const isNew = tally.iteration === 0 && now() - tally.startedAt < AT_ONCE_MS
  return tally.startedAt > began || (isNew && opened(home, spec.prompt, spec.prompt) === wanted)
}

function repeatAnswer({ home }: Desk, { loop, armed }: Found): Answer {
  return { loop, context: armed.context, prompt: givenTo(home, loop, armed), show: [] }
}

function requestOf({ host, dir, command, chain }: Making): LoopRequest {
  const { file, promise, checks, maxIterations, timeoutMinutes: minutes, maxTokens: tokens } = command
  const { proof, require, protect, mayChange } = command
  const prompt = file === undefined ? command.prompt : readText(resolve(dir, file), 'prompt')
  if (!prompt.trim()) throw new RalphError('usage', `The prompt file ${file} is empty.`)
  if (tokens !== undefined && host.speaks === 'cursor')
    throw new RalphError(
      'usage',
      `--max-tokens is not available in ${host.title}, which does not report tokens. Limit the loop with --max-iterations or --timeout.`,
    )
  return {
    prompt,
    checks,
    agents: [host.agent],
    agentArgs: chain.length === 1 ? chain.flat() : [],
    ...(chain.length > 1 ? { chain } : {}),
    limits: {
      ...(maxIterations === undefined ? {} : { iterations: maxIterations }),
      ...given({ minutes, tokens }),
    },
    ...(host.escapes ? { signals: [SIGNAL] } : {}), // in addition to a promise, whose tag would arrive escaped
    ...given({ promise, proof, require, protect, mayChange }),
  }
}

/** Checks must finish before the host's hook timeout. */
function withinHook(spec: Spec, { hookMinutes }: Host): Spec {
  if (hookMinutes === undefined) return spec
  const checkMinutes = (hookMinutes * 0.9) / Math.max(1, spec.checks.length)
  return { ...spec, work: { ...spec.work, checkMinutes } }
}
