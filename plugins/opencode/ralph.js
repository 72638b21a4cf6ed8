/** ralph in OpenCode and Kilo: reports to hook.cjs what happens in a session, and carries out its answers. Decides nothing. */
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @import { Answer, Failure, Hooks, Host, Info, Looping, Message, Part, Told, Tokens, Turned } from './host.d.mts' */

/** @type {Record<string, string>} */
const COMMANDS = {
  loop: 'work on a prompt in a loop: PROMPT [--max-iterations N] [--completion-promise T] [--verify CMD]',
  cancel: "end this session's loop",
  status: "show the state of this session's loop",
  pause: "pause this session's loop",
  resume: 'resume a paused loop',
  steer: 'tell the next iteration something: WORDS',
  help: 'explain loops, their options and how they end',
}
const GOING = ['running', 'verifying', 'waiting', 'needs-input']
const LIMIT_MS = 3_600_000 // checks may take a long time
const BUILT = join(dirname(realpathSync(fileURLToPath(import.meta.url))), '..', '..', 'dist', 'hook.cjs')
const HOST = /kilo/.test(basename(process.execPath)) ? 'kilo' : 'opencode'
const IS_RUN = process.argv[2] === 'run'
const ONE_TURN = `ralph: \`${HOST} run\` ends with its first turn, so no loop can run in it. Type /ralph:loop in a session that stays open, or use \`ralph run --agent ${HOST}\`.`
/** @type {Answer} */
const NOTHING = { next: 'none', status: 'none', show: [] }

/** @param {Host} host @returns {Promise<Hooks>} */
export const Ralph = async ({ client, directory }) => {
  /** @type {Map<string, Looping>} The looping sessions of this OpenCode, by their ids. */
  const loops = new Map()

  return {
    async config(config) {
      config.command ??= {}
      // OpenCode runs every !`command` of a template, including its arguments. None of them reaches this placeholder.
      for (const [name, description] of Object.entries(COMMANDS))
        config.command[`ralph:${name}`] = { description, template: `ralph:${name} $999999999` }
    },

    async 'command.execute.before'({ command, sessionID, arguments: args }, { parts }) {
      const name = command.replace(/^ralph:/, '')
      if (name === command || !(name in COMMANDS)) return
      if (name === 'cancel' || name === 'pause') await interrupt(sessionID)
      const cannot = IS_RUN && (name === 'loop' || name === 'resume')
      const answer = cannot
        ? { ...NOTHING, show: [{ level: /** @type {const} */ ('error'), text: ONE_TURN }] }
        : await ask(sessionID, { event: 'command', command: name, args })
      if (!answer.loop || !heed(sessionID, answer)) {
        await tell(sessionID, answer)
        // The only way to keep a command from the model. The error is not shown.
        throw new Error(`ralph:${name} is not for the model`)
      }
      parts.splice(0, parts.length, ...partsOf(answer, `/${command} ${args.trim()}`))
    },

    async 'chat.message'({ sessionID }, { message, parts }) {
      const loop = loops.get(sessionID)
      if (!loop) return
      const isOurs = parts.some(({ text, ignored }) => text === loop.prompt && !ignored)
      if (!isOurs) {
        const typed = parts.find(({ type, ignored, synthetic }) => type === 'text' && !ignored && !synthetic)
        if (!typed) return
        await interrupt(sessionID)
        const answer = await ask(sessionID, { event: 'prompt', prompt: typed.text })
        if (!answer.loop || !heed(sessionID, answer)) return pop(answer)
        // It was an answer, and becomes the loop's next turn.
        const [seen, told] = partsOf(answer, typed.text)
        parts.push({ ...typed, ...told, id: `${typed.id}0` })
        Object.assign(typed, seen)
      }
      Object.assign(loops.get(sessionID) ?? {}, { messageID: message.id })
    },

    async 'experimental.chat.messages.transform'(_, { messages }) {
      const loop = loops.get(messages[0]?.info.sessionID ?? '')
      const start = loop?.isFresh ? messages.findIndex(({ info }) => info.id === loop.messageID) : -1
      if (start > 0) messages.splice(0, start)
    },

    async event({ event: { type, properties } }) {
      const session = properties.sessionID ?? ''
      const loop = loops.get(session)
      if (loop && type === 'session.error') loop.error = properties.error ?? {}
      if (loop && type === 'session.compacted') loop.compactedAt = Date.now()
      // A session is also idle after the user's own shell command.
      if (type === 'session.idle' && loop?.isTurn) quietly(afterTurn(session, loop))
    },
  }

  /** @param {string} session @param {Looping} loop */
  async function afterTurn(session, loop) {
    loop.isTurn = false
    const { data: messages = [] } = await client.session.messages({ path: { id: session } })
    const start = messages.findIndex(({ info }) => info.id === loop.messageID)
    const turned = { ...sumUp(messages.slice(start), loop.error), compacted_at: loop.compactedAt }
    const answer = await ask(session, { event: 'stop', ...turned })
    await advance(session, answer, messages[start]?.info)
  }

  /**
   * Carries out an answer, with the agent and the model of `like`.
   * @param {string} session @param {Answer} answer @param {Info} [like]
   */
  async function advance(session, answer, like) {
    if (answer.isStale) return
    const going = heed(session, answer)
    if (!going) await tell(session, answer)
    const loop = loops.get(session)
    if (loop && answer.next === 'wait')
      loop.wake = setTimeout(
        () => quietly(ask(session, { event: 'woke' }).then((woken) => advance(session, woken, like))),
        answer.wait_ms,
      )
    if (!going) return
    const { agent, model, variant } = { ...like, ...like?.model }
    const body = { agent, model, variant, parts: partsOf(answer) }
    await client.session.promptAsync({ path: { id: session }, body })
  }

  /** Remembers a session's state; true: a turn is requested. @param {string} session @param {Answer} answer */
  function heed(session, { next, status, prompt = '', fresh = false }) {
    const isTurn = next === 'turn'
    if (!isTurn && GOING.includes(status)) return false
    clearTimeout(loops.get(session)?.wake)
    loops.delete(session)
    if (isTurn) loops.set(session, { prompt, isFresh: fresh, isTurn })
    return isTurn
  }

  /** Stops checks that may be running: the user wants something else. @param {string} session */
  async function interrupt(session) {
    const asking = loops.get(session)?.asking
    asking?.call.kill()
    await asking?.ended
  }

  /** @param {string} session @param {Answer} answer */
  async function tell(session, answer) {
    // It prints only the model's answers.
    if (IS_RUN) return answer.show.forEach(({ text }) => void process.stderr.write(`${text}\n`))
    const { data: busy } = await client.session.status()
    // A message would prolong a running turn.
    if (busy?.[session]) return pop(answer)
    const parts = answer.show.map(({ text }) => ({ type: 'text', text, ignored: true })) // shown, and never sent to the model
    if (parts.length > 0) await client.session.prompt({ path: { id: session }, body: { noReply: true, parts } })
  }

  /** OpenCode shows one toast at a time, so all notes go into one. @param {Answer} answer */
  async function pop({ show }) {
    if (show.length === 0) return
    const variant = show.find(({ level }) => level !== 'info')?.level ?? 'info'
    const message = show.map(({ text }) => text.replace(/^ralph: /, '')).join('\n')
    await client.tui.showToast({ body: { title: 'ralph', message, variant, duration: 8_000 } })
  }

  /**
   * One call of hook.cjs. Whatever goes wrong, the user keeps their session.
   * @param {string} session @param {Told} what @returns {Promise<Answer>}
   */
  async function ask(session, what) {
    const home = process.env.RALPH_HOME || join(homedir(), '.ralph')
    const own = join(home, 'node')
    const node = process.env.RALPH_NODE || (existsSync(own) ? own : 'node')
    const hook = existsSync(BUILT) ? BUILT : join(home, 'hook.cjs')
    const env = { ...process.env, RALPH_HOST_PID: String(process.pid) }
    const call = spawn(node, [hook], { cwd: directory, env, timeout: LIMIT_MS, stdio: ['pipe', 'pipe', 'ignore'] })
    const kill = () => call.kill()
    process.once('exit', kill)
    let out = ''
    call.stdout.setEncoding('utf8').on('data', (text) => (out += text))
    call.stdin.on('error', () => {}) // it may exit without reading
    call.stdin.end(JSON.stringify({ host: HOST, session_id: session, cwd: directory, ...what }))
    /** @type {Promise<Error | number | null>} */
    const ended = new Promise((resolve) => call.on('error', resolve).on('close', resolve))
    const loop = loops.get(session)
    if (loop && what.event === 'stop') loop.asking = { call, ended }
    const how = await ended
    process.off('exit', kill)
    if (call.killed) return { ...NOTHING, isStale: true }
    try {
      return out || how !== 0 ? JSON.parse(out) : NOTHING
    } catch {
      const text = `ralph gave no answer; this session continues without it: ${node} ${hook} (${how})`
      return { ...NOTHING, show: [{ level: 'error', text }] }
    }
  }
}

/**
 * A turn: the user sees a line or two that the model does not get, and the model gets what the user need not read.
 * @param {Answer} answer @param {string} [typed] @returns {[Part, Part]}
 */
function partsOf({ show, prompt = '' }, typed) {
  const seen = [...(typed ? [typed] : []), ...show.map(({ text }) => text)].join('\n\n')
  return [
    { type: 'text', text: seen || 'ralph', ignored: true },
    { type: 'text', text: prompt, synthetic: true },
  ]
}

/** @param {Promise<void>} work */
function quietly(work) {
  work.catch(() => {}) // the session was deleted, or OpenCode is exiting
}

/**
 * The outcome of a turn, from the messages since its prompt and the error that OpenCode reported separately.
 * @param {Message[]} messages @param {Failure} [failed] @returns {Turned}
 */
function sumUp(messages, failed) {
  const said = messages.filter(({ info }) => info.role === 'assistant')
  const last = said.findLast(({ info }) => !info.summary)
  // A session is idle a moment before its last message has the error. A finished message has recovered from it.
  const isWhole = last?.info.finish !== undefined && last.info.finish !== 'tool-calls'
  const error = last?.info.error ?? (isWhole ? undefined : failed)
  const parts = said.flatMap((message) => message.parts)
  return {
    outcome: error?.name === 'MessageAbortedError' ? 'aborted' : error ? 'error' : 'completed',
    error_message: error && [error.data?.statusCode, error.data?.message || error.name].filter(Boolean).join(' '),
    last_assistant_message: (last?.parts ?? [])
      .flatMap(({ type, text, synthetic }) => (type === 'text' && !synthetic ? [text] : []))
      .join('\n'),
    tokens: sum(said.flatMap(({ info: { tokens } }) => (tokens ? amounts(tokens) : []))),
    cost_usd: sum(said.map(({ info }) => info.cost ?? 0)),
    ran: parts.flatMap(({ tool, state }) => (tool === 'bash' && state?.input?.command ? [state.input.command] : [])),
  }
}

/** @param {Tokens} tokens */
const amounts = ({ input, output, reasoning, cache }) => [input, output, reasoning, cache.read, cache.write]

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((one, other) => one + other, 0)
