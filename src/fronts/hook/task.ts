/** A session that works on a task of a vault wants to stop: it is given the loop of the task, and its turn is over like any other. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as nap } from 'node:timers/promises'
import { count } from '../../engine/limits.ts'
import { ended, type Fact, type Loop } from '../../engine/loop.ts'
import { allChecks } from '../../engine/stages.ts'
import { RalphError } from '../../error.ts'
import { taskCommand } from '../../formats/task-command.ts'
import { loadConfig } from '../../host/config.ts'
import { realFolder } from '../../host/files.ts'
import type { Lease } from '../../host/store.ts'
import { askedAbout, findFile, whereIs } from '../../host/vault.ts'
import { postWebhook } from '../../host/webhook.ts'
import { type Answer, allowance, NOTHING, type Note, say } from '../../session/answer.ts'
import { arm, disarm, isSessionId, loadArmed, processOf, sessionOf } from '../../session/armed.ts'
import type { Desk } from '../../session/begin.ts'
import { HOSTS } from '../../session/hosts.ts'
import { goOnNow, type TurnOver, turnOver } from '../../session/turn-over.ts'
import type { VaultDesk } from '../../vault/desk.ts'
import { comeAlong } from '../../vault/finding.ts'
import { FAILED } from '../../vault/place.ts'
import { resolveSettings } from '../../vault/settings.ts'
import { vaultOf } from '../../vault/spec.ts'
import { hasHookFile, writeHookFiles } from '../../vault/state-file.ts'
import { limitMessage, timeoutMessage } from '../../vault/telling.ts'
import { movedByHand, seeTo } from '../../vault/work.ts'
import type { From } from './payload.ts'

/** `vault` names where the task is; without it the session has its loop already. */
export async function taskOver(
  desk: Desk,
  from: From,
  vault: string | undefined,
  over: () => Promise<TurnOver>,
): Promise<Answer> {
  const armed = loadArmed(desk.home, from.session)
  const loop = await loadLoop(desk, vault === undefined ? armed?.loop : await taskIn(desk, realFolder(vault)))
  if (!loop || ended(loop)) {
    if (armed?.vault && (!loop || armed.loop === loop.id)) disarm(desk.home, from.session)
    if (!loop) return say(`ralph: this task is not known in ${desk.home}; the session is free.`, 'warning')
    const isNews = hasHookFile(vaultOf(loop))
    const notes = await settle(desk, loop)
    return { loop, show: [standing(loop), ...notes, ...(isNews ? await tellPerson(desk, { loop, show: [] }) : [])] }
  }
  let answer = NOTHING
  // Hooks of one session that run at the same time take each other's place: then this turn is still to be counted.
  for (let tries = 0; tries < 20 && (tries === 0 || (await isUncounted(desk, from, loop))); tries += 1) {
    if (tries > 0) await nap(50)
    const refused = await take(desk, from, loop)
    if (refused) return refused
    answer = await stopWith(desk, from, loop, over)
  }
  if (!answer.loop) return answer
  const notes = await settle(desk, loop)
  // A task whose file is gone has been given up by now.
  const after = await loadLoop(desk, loop.id)
  if (after && ended(after) && loadArmed(desk.home, from.session)?.loop === loop.id) disarm(desk.home, from.session)
  const told = inTaskWords(desk, from, after && ended(after) ? { loop: after, show: answer.show } : answer)
  return { ...told, show: [...told.show, ...notes, ...(await tellPerson(desk, told))] }
}

/** What the end of its turn brings about. Without a loop: the session has none. */
async function stopWith(desk: Desk, from: From, loop: Loop, over: () => Promise<TurnOver>): Promise<Answer> {
  const task = vaultOf(loop)
  // Another hook of this session may have let it go on meanwhile.
  const { next } = (await loadLoop(desk, loop.id)) ?? loop
  const isMoved = next.kind === 'wait' || findFile(task) === `${FAILED}/${task.file}`
  const moved = isMoved ? (movedByHand(loop, desk.now()) ?? (await answerTo(desk, loop))) : undefined
  const unheard = moved ? [] : unheardWords(desk, from, loop)
  const answer = moved ? await goOnNow(desk, from.session, moved) : await turnOver(desk, await over())
  const armed = loadArmed(desk.home, from.session)
  if (armed?.loop === loop.id) {
    const { free: _, ...rest } = armed
    arm(desk.home, from.session, { ...rest, ...(answer.prompt === undefined ? { free: true } : {}) })
  }
  return answer.prompt === undefined ? answer : { ...answer, prompt: [answer.prompt, ...unheard].join('\n\n') }
}

/** `ralph steer` also answers a question. */
async function answerTo({ store }: Desk, { id, next }: Loop): Promise<Fact | undefined> {
  const fact = next.kind === 'wait' && next.why === 'person' ? await store().told(id) : undefined
  return fact?.kind === 'told' && fact.order.kind === 'say' ? fact : undefined
}

/** What a person said while the session was free: its turn began without a word of ralph. */
function unheardWords({ home }: Desk, { session }: From, { next }: Loop): string[] {
  if (next.kind !== 'turn' || !loadArmed(home, session)?.free) return []
  return next.feedback.filter((text) => text.startsWith('A person says: '))
}

async function isUncounted(desk: Desk, { session }: From, { id, tally }: Loop): Promise<boolean> {
  const now = await loadLoop(desk, id)
  const isOther = loadArmed(desk.home, session)?.loop !== id
  return (
    isOther && now?.next.kind === 'turn' && now.tally.iteration === tally.iteration && whereIs(vaultOf(now)) === 'done'
  )
}

async function taskIn(desk: Desk, vault: string): Promise<string | undefined> {
  const { store, env, home } = desk
  const find = () => store().loadTask(vault, env.RALPH_TASK_ID ?? '')?.loop
  if (find() === undefined)
    await comeAlong(vaultDesk(desk, { vault, settings: resolveSettings({}, { env, home, vault }) }))
  return find()
}

function vaultDesk(
  { store, home, env, now }: Desk,
  place: Pick<VaultDesk, 'vault' | 'settings'>,
  note: VaultDesk['note'] = () => {},
): VaultDesk {
  return { ...place, store: store(), home, env, now, note, histories: new Map() }
}

async function loadLoop({ store }: Desk, id: string | undefined): Promise<Loop | undefined> {
  if (id === undefined) return undefined
  return store()
    .load(id)
    .catch((cause) => {
      if (cause instanceof RalphError && cause.code === 'loop-unknown') return undefined // of a home that was cleared
      throw cause
    })
}

/** The session gets the loop, unless it is somebody else's: then this is what it is told instead. */
async function take(desk: Desk, from: From, loop: Loop): Promise<Answer | undefined> {
  const lease = await leaseOf(desk, loop.id)
  // The one who holds it may be a second hook of this very session, which has counted the turn then.
  const isOwn = loadArmed(desk.home, from.session)?.loop === loop.id
  if (!lease) return isOwn ? NOTHING : elsewhere(loop, 'by another process')
  try {
    return isOwn ? undefined : await armWith(desk, from, loop)
  } finally {
    await lease.release()
  }
}

const PATIENCE_MS = 1_000

async function leaseOf({ store }: Desk, id: string): Promise<Lease | undefined> {
  for (let waited = 0; waited <= PATIENCE_MS; waited += 20) {
    const lease = await store().lease(id)
    if (!('heldBy' in lease)) return lease
    await nap(20)
  }
  return undefined
}

async function armWith(desk: Desk, { session, host }: From, loop: Loop): Promise<Answer | undefined> {
  const { home, env } = desk
  const own = loadArmed(home, session)
  const before = own && !own.vault ? await loadLoop(desk, own.loop) : undefined
  if (!isSessionId(session) || (before && !ended(before))) return NOTHING
  if (vaultOf(loop).by === 'watch') return elsewhere(loop, 'by `ralph watch`')
  const other = sessionOf(home, loop.id)
  // After /clear the same process has another session.
  const isSame = other?.armed.pid !== undefined && other.armed.pid === processOf(env).pid
  if (other && !other.gone && !isSame) return elsewhere(loop, `in another session of ${HOSTS[other.armed.host].title}`)
  if (other) disarm(home, other.session)
  await writeHookFiles(loop, home, session)
  const since = loop.tally.iteration
  arm(home, session, { loop: loop.id, host, face: '', context: 'same', since, vault: true, ...processOf(env) })
  return undefined
}

function elsewhere(loop: Loop, where: string): Answer {
  return say(`ralph: task ${vaultOf(loop).id} is worked on ${where}; this session is free.`)
}

/** The vault's own files are true after every stop. Where that cannot be, the session goes on all the same. */
async function settle(desk: Desk, loop: Loop): Promise<Note[]> {
  const { path, id, state, done } = vaultOf(loop)
  const notes: Note[] = []
  const { iterations, minutes = 0 } = loop.spec.limits
  const folders = { stateDir: state, doneFolder: done, checkIntervalSeconds: 5, quietSeconds: 1.5 }
  const settings = { maxIterations: iterations, timeoutMinutes: minutes, ...folders }
  const note = (text: string) => void notes.push({ level: 'warning', text: `ralph: ${text}` })
  await seeTo(vaultDesk(desk, { vault: path, settings }, note), id).catch((cause) =>
    note(cause instanceof Error ? cause.message : String(cause)),
  )
  return notes
}

/** What a session is told is about commands that a vault has not; here it is about its task. */
function inTaskWords({ home, env }: Desk, { session }: From, answer: Answer): Answer {
  const { loop, show } = answer
  const [first, ...more] = show
  if (!loop || !first) return answer
  const rest = more.filter(({ text }) => !text.includes(HOSTS.claude.types('resume')))
  if (loop.next.kind !== 'turn') return { ...answer, show: [standing(loop), ...rest] }
  return { ...answer, show: [first, ...rest, ...capNote(loop, loadArmed(home, session)?.since ?? 0, env)] }
}

function standing(loop: Loop): Note {
  const { spec, tally, next } = loop
  const { id, done, file } = vaultOf(loop)
  const after = `after ${count(tally.iteration, 'iteration')}`
  switch (next.kind) {
    case 'complete': {
      const proof = next.proof === 'verified' ? `proven: ${allChecks(spec).join(', ')}` : `${file} is in ${done}`
      return { level: 'info', text: `ralph: task ${id} is done ${after}, ${proof}` }
    }
    case 'halt':
      return { level: 'warning', text: `ralph: task ${id} stopped ${after}. ${endOf(loop)}` }
    case 'wait':
      if (next.why === 'person') return waiting(loop, next.question ?? '')
      if (next.until !== undefined) return { level: 'info', text: `ralph: task ${id} waits for the agent ${after}.` }
      return {
        level: 'info',
        text: `ralph: task ${id} rests ${after}; this session is free. Go on: ralph resume ${loop.id}`,
      }
    case 'turn':
    case 'check':
    case 'restore':
      return {
        level: 'warning',
        text: `ralph: task ${id} is not over: its checks could not be run to their end. The next stop tries them again.`,
      }
  }
}

function waiting(loop: Loop, question: string): Note {
  const { id, path } = vaultOf(loop)
  const answer = askedAbout(vaultOf(loop), question) === 'agent' ? ['--note', 'your answer'] : []
  return {
    level: 'warning',
    text: `ralph: task ${id} waits for you: ${question} Go on with \`${taskCommand('approve', id, path, ...answer)}\`, end it with \`${taskCommand('reject', id, path)}\`.`,
  }
}

function endOf(loop: Loop): string {
  if (loop.next.kind !== 'halt') return ''
  if (loop.next.reason === 'timeout') return timeoutMessage(loop)
  return loop.next.reason === 'max-iterations' ? limitMessage(loop) : loop.next.sentence
}

/** Said once, with the last turn that Claude Code surely allows. */
function capNote({ tally }: Loop, since: number, env: Desk['env']): Note[] {
  const { cap, title } = HOSTS.claude
  const most = allowance(HOSTS.claude, env)
  if (tally.iteration - since !== most) return []
  return [
    {
      level: 'warning',
      text: `ralph: ${title} lets a hook go on ${most} times in a row (${cap?.raise}). Should it stop here, tell it to go on.`,
    },
  ]
}

const WEBHOOK_MS = 3_000

/** A task that ran out of time or turns needs somebody, who may be elsewhere. */
async function tellPerson({ home }: Desk, { loop }: Answer): Promise<Note[]> {
  if (loop?.next.kind !== 'halt' || !['timeout', 'max-iterations'].includes(loop.next.reason)) return []
  ringBell()
  const { path, id } = vaultOf(loop)
  const told = {
    task_id: id,
    vault: path,
    loop_id: loop.id,
    reason: loop.next.reason,
    iterations: loop.tally.iteration,
  }
  try {
    const address = loadConfig(home, path).notify_webhook
    const body = { title: `ralph: task ${id} stopped`, text: endOf(loop), ...told }
    const trouble = address && (await postWebhook(address, body, WEBHOOK_MS))
    return trouble ? [{ level: 'warning', text: `ralph: ${trouble}` }] : []
  } catch (cause) {
    return [{ level: 'warning', text: `ralph: ${cause instanceof Error ? cause.message : cause}` }]
  }
}

function ringBell(): void {
  try {
    const terminal = openSync('/dev/tty', 'w')
    writeSync(terminal, '\u0007')
    closeSync(terminal)
  } catch {
    // nobody sits at one
  }
}
