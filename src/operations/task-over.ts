/** Handles the stop of a session that works on a vault task: arms it with the loop of the task, and ends its turn like any other. */
import { setTimeout as nap } from 'node:timers/promises'
import { saidSentence } from '../engine/feedback.ts'
import { ended, type Fact, type Loop } from '../engine/loop.ts'
import { realFolder } from '../host/files.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { type Answer, NOTHING, type Note, say } from '../session/answer.ts'
import { arm, disarm, loadArmed } from '../session/armed.ts'
import type { Desk } from '../session/begin.ts'
import { continueLoop, type TurnOver, turnOver } from '../session/turn-over.ts'
import type { VaultDesk } from '../vault/desk.ts'
import { seeTo } from '../vault/ending.ts'
import { followMovedVault } from '../vault/finding.ts'
import { movedByHand } from '../vault/moved.ts'
import { FAILED } from '../vault/place.ts'
import { resolveSettings } from '../vault/settings.ts'
import { hasHookFile } from '../vault/state-file.ts'
import { vaultOf } from '../vault/vault-task.ts'
import { findFile, judgeByPlace, whereIs } from '../vault/where.ts'
import { alertPerson } from './task-alarm.ts'
import type { From } from './task-session.ts'
import { loadLoop, take } from './task-session.ts'
import { inTaskWords, taskStanding } from './task-words.ts'

/** `vault`: where the task is; absent if the session already has its loop. */
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
    if (loop) return alreadyOver(desk, loop)
    return say(`ralph: this task is not known in ${desk.home}; this session is no longer looping.`, 'warning')
  }
  let answer = NOTHING
  // Concurrent hooks of one session can replace each other: then this turn has not been counted yet.
  for (let tries = 0; tries < 20 && (tries === 0 || (await isUncounted(desk, from, loop))); tries += 1) {
    if (tries > 0) await nap(50)
    const refused = await take(desk, from, loop)
    if (refused) return refused
    answer = await stopWith(desk, from, loop, over)
  }
  if (!answer.loop) return answer
  const notes = await settle(desk, loop)
  // A task whose file was deleted has been given up by now.
  const after = await loadLoop(desk, loop.id)
  if (after && ended(after) && loadArmed(desk.home, from.session)?.loop === loop.id) disarm(desk.home, from.session)
  const worded = inTaskWords(desk, from, after && ended(after) ? { loop: after, show: answer.show } : answer)
  return { ...worded, show: [...worded.show, ...notes, ...(await alertPerson(desk, worded.loop))] }
}

/** It ended elsewhere; the first to notice reports it. */
async function alreadyOver(desk: Desk, loop: Loop): Promise<Answer> {
  const isNews = hasHookFile(vaultOf(loop))
  const notes = await settle(desk, loop)
  return { loop, show: [taskStanding(loop), ...notes, ...(isNews ? await alertPerson(desk, loop) : [])] }
}

/** The result of the end of its turn. Without a loop: the session has none. */
async function stopWith(desk: Desk, from: From, loop: Loop, over: () => Promise<TurnOver>): Promise<Answer> {
  const task = vaultOf(loop)
  // Another hook of this session may have continued it meanwhile.
  const { next } = (await loadLoop(desk, loop.id)) ?? loop
  const mayBeMoved = next.kind === 'wait' || findFile(task) === `${FAILED}/${task.file}`
  const moved = mayBeMoved ? (movedByHand(loop, desk.now()) ?? (await answerTo(desk, loop))) : undefined
  const unheard = moved ? [] : missedWords(desk, from, loop)
  const answer = moved
    ? await continueLoop(desk, from.session, moved)
    : await turnOver({ ...desk, judge: (held, turn) => judgeByPlace(vaultOf(held), turn) }, await over())
  const armed = loadArmed(desk.home, from.session)
  if (armed?.loop === loop.id) {
    const { free: _, ...rest } = armed
    arm(desk.home, from.session, { ...rest, ...(answer.prompt === undefined ? { free: true } : {}) })
  }
  return answer.prompt === undefined ? answer : { ...answer, prompt: [answer.prompt, ...unheard].join('\n\n') }
}

/** `ralph steer` also answers a question. */
async function answerTo({ store }: Desk, { id, next }: Loop): Promise<Fact | undefined> {
  const fact = next.kind === 'wait' && next.why === 'person' ? await store().nextOrder(id) : undefined
  return fact?.kind === 'told' && fact.order.kind === 'say' ? fact : undefined
}

/** What a person said while the session was not looping: that turn started without a prompt from ralph. */
function missedWords({ home }: Desk, { session }: From, { next }: Loop): string[] {
  if (next.kind !== 'turn' || !loadArmed(home, session)?.free) return []
  return (next.heard ?? []).map((words) => saidSentence({ by: 'person', words }))
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
  const find = async () => (await store().tasks.load(vault, env.RALPH_TASK_ID ?? ''))?.loop
  if ((await find()) === undefined)
    await followMovedVault(vaultDesk(desk, { vault, settings: resolveSettings({}, { env, home, vault }) }))
  return find()
}

function vaultDesk(
  { store, home, env, now }: Desk,
  place: Pick<VaultDesk, 'vault' | 'settings'>,
  note: VaultDesk['note'] = () => {},
): VaultDesk {
  return { ...place, store: store(), home, env, now, note, histories: new Map() }
}

/** Updates the vault's own files after every stop. If that fails, the session continues anyway. */
async function settle(desk: Desk, loop: Loop): Promise<Note[]> {
  const { path, id, state, done } = vaultOf(loop)
  const notes: Note[] = []
  const { iterations, minutes = 0 } = loop.spec.limits
  const settings = {
    ...DEFAULTS,
    maxIterations: iterations,
    timeoutMinutes: minutes,
    stateDir: state,
    doneFolder: done,
  }
  const note = (text: string) => void notes.push({ level: 'warning', text: `ralph: ${text}` })
  await seeTo(vaultDesk(desk, { vault: path, settings }, note), id).catch((cause) =>
    note(cause instanceof Error ? cause.message : String(cause)),
  )
  return notes
}
