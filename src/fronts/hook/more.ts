/** What only some calls of the hook program need, loaded on demand: user commands, running checks, a new database. */
import { type CheckHands, type Checking, checkHands } from '../../drive/check-hands.ts'
import { RalphError } from '../../error.ts'
import { unwrapPrompt } from '../../formats/wrapped-prompt.ts'
import { printThrough } from '../../host/client-stderr.ts'
import { reap } from '../../host/process-tree.ts'
import { openStore } from '../../host/sqlite.ts'
import { taskOver } from '../../operations/task-over.ts'
import { type Answer, NOTHING, say } from '../../session/answer.ts'
import { arm, loadArmed } from '../../session/armed.ts'
import { type Asked, beginWrapped, type Desk as WholeDesk } from '../../session/begin.ts'
import { runCommand } from '../../session/commands.ts'
import type { Desk } from '../../session/desk.ts'
import { HOSTS } from '../../session/hosts.ts'
import { recordOf } from '../../session/record.ts'
import { continueLoop, otherPrompt, turnOver } from '../../session/turn-over.ts'
import { failOpen } from './fail-open.ts'
import { EVERYTHING, isNews, remember } from './heard.ts'
import { meaningOf } from './meaning.ts'
import { newPart } from './new-part.ts'
import { type From, type Said, word } from './payload.ts'
import { parseTyped, readTyped, type Typed } from './prompt.ts'
import { printTyped } from './prompt-reply.ts'
import { printStop, type Reply, textOf } from './reply.ts'
import { readStop, transcriptOf } from './stop.ts'
import { lastMessage, lastPrompt, wasCancelled } from './transcript.ts'

export { openDatabase } from '../../host/migrate.ts'
export { capNote, checkWords, findingNotes, standing } from '../../session/standing.ts'
export { lastMessage, meaningOf, newPart }

/** Replies to what the user typed. */
export async function replyToTyped(desk: Desk, { from, payload, event }: Said): Promise<Reply> {
  const typed = readTyped(event, payload)
  if (HOSTS[from.host].speaks === 'droid' && typed?.kind === 'command') remember(desk.home, from.session, EVERYTHING)
  if (!typed) return {}
  const turn = word(payload.turn_id)
  const isAmid = turn !== undefined && loadArmed(desk.home, from.session)?.turn === turn
  const answer = await failOpen(() => answerTo(desk, from, typed, transcriptOf(payload)))
  const armed = answer.prompt === undefined ? undefined : loadArmed(desk.home, from.session)
  if (armed && turn !== undefined) arm(desk.home, from.session, { ...armed, turn })
  const { dumb } = HOSTS[from.host]
  if (dumb && typed.kind === 'command' && answer.prompt === undefined) sayAloud(answer, dumb)
  return printTyped(answer, isAmid ? { ...from, amid: true } : from, typed)
}

/** Replies to what the user typed, according to the session's own transcript. */
export async function replyToRecord(desk: Desk, from: From, transcript: string): Promise<Reply> {
  const prompt = lastPrompt(transcript)
  const typed = parseTyped(prompt?.text ?? '')
  if (!prompt || typed.kind !== 'command' || !isNews(desk.home, from.session, prompt.id)) return {}
  remember(desk.home, from.session, prompt.id)
  const answer = await failOpen(() => answerTo(desk, from, typed, transcript))
  if (answer.prompt === undefined) sayAloud(answer, HOSTS[from.host].mute)
  return printTyped(answer, from, typed)
}

/** The agent stops, and its client exits with 0 however the loop ended: so without a terminal the outcome is printed. */
export function sayAloud(answer: Answer, words: readonly string[] = []): void {
  const text = textOf(answer)
  if (text) printThrough(words, text)
}

/** A tool has ended mid-turn. If the user's Esc ended it, Gemini calls no other hook. */
export async function replyToTool(desk: Desk, { from, payload }: Said): Promise<Reply> {
  if (!wasCancelled(transcriptOf(payload) ?? '')) return {}
  return printStop(await failOpen(() => turnOver(desk, { session: from.session, outcome: 'aborted' })), from)
}

/** A session that works on a vault task has ended a turn. Its script names the vault; other hooks know the session's loop. */
export async function replyToTask(desk: Desk, { from, payload }: Said): Promise<Reply> {
  const [event, vault] = process.argv.slice(-2)
  const over = () =>
    readStop(from, payload, {
      ...loadArmed(desk.home, from.session),
      newPart,
      lastMessage: (path) => lastMessage(path, from.host, payload),
      failed: (message) => meaningOf(message, desk.now()),
    })
  const answer = () => withStore(desk, (whole) => taskOver(whole, from, event === 'task' ? vault : undefined, over))
  return printStop(await failOpen(() => answer().catch(inWords)), from)
}

/** Task errors have their own codes. */
function inWords(cause: unknown): Answer {
  if (cause instanceof RalphError) return say(`ralph: ${cause.message}`, 'error')
  throw cause
}

async function answerTo(desk: Desk, from: From, typed: Typed, record?: string): Promise<Answer> {
  switch (typed.kind) {
    case 'prompt': {
      // A vault task continues whatever else is typed.
      if (loadArmed(desk.home, from.session)?.vault) return NOTHING
      const asked = { ...from, record, args: typed.words }
      return (await wrapped(desk, asked)) ?? otherPrompt(desk, from.session, typed.words)
    }
    case 'woke':
      return continueLoop(desk, from.session, { kind: 'woke', at: desk.now() })
    case 'command':
      return withStore(desk, (whole) =>
        runCommand(whole, typed.command, {
          ...from,
          record: record ?? recordOf(from.host, from.session, desk.env),
          args: typed.args,
          trusts: typed.trusts,
        }),
      )
  }
}

/** A dispatcher's prompt in a pane already has its loop, and a shim has sent the prompt by itself. */
async function wrapped(desk: Desk, asked: From & Asked): Promise<Answer | undefined> {
  if (asked.shim || desk.env.RALPH_PANE !== undefined || !unwrapPrompt(asked.args)) return undefined
  return withStore(desk, (whole) => beginWrapped(whole, asked))
}

/** With a store that also answers questions about other loops. */
async function withStore<A extends Answer | undefined>(desk: Desk, work: (whole: WholeDesk) => Promise<A>): Promise<A> {
  const store = openStore(desk.home, desk.now)
  try {
    return await work({ ...desk, store: () => store })
  } finally {
    await store.close()
  }
}

/** Watches the store while checks run, so that a cancel from elsewhere stops them. */
export function checker(
  { home, now }: Pick<Desk, 'home' | 'now'>,
  checking: Omit<Checking, 'store' | 'home'>,
): CheckHands {
  const store = openStore(home, now)
  const hands = checkHands({ ...checking, home, store })
  return {
    async check(loop, next) {
      await reap(loop.id) // checks left by a hook that was killed
      return hands.check(loop, next)
    },
    async prove(loop, next) {
      await reap(loop.id)
      return hands.prove(loop, next)
    },
    async leave(loop) {
      await hands.leave(loop)
      await store.close()
    },
  }
}
