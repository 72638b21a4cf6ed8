/** Reports to ralph what happens in an OpenCode or Kilo in one of its panes. Decides nothing, and changes nothing in the session. */
import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** @import { Failure, Info, Part, Told, Tokens, Tui, Turned } from './host.d.mts' */

const LIMIT_MS = 30_000
const PARTING_MS = 1_000
/** With `--auto` it still asks, and answers itself. */
const ASKS_MS = 1_000
const HOST = /kilo/.test(basename(process.execPath)) ? 'kilo' : 'opencode'

/** Loaded into the interface, not the server behind it: only the interface knows when it accepts input. */
export default {
  id: 'ralph-pane',
  /** @param {Tui} api */
  async tui(api) {
    const hook = parseHook(process.env)
    if (!hook) return
    /** @type {Promise<unknown>} */
    let told = Promise.resolve()
    /** In order and one at a time; not awaited. @param {Told} what @param {string} [session_id] */
    const tell = (what, session_id) => {
      const all = { host: HOST, session_id, cwd: api.state.path.directory, ...what }
      told = told.then(() => call(hook, all))
    }
    listen({ ...api, event: quietly(api.event) }, tell)
    api.lifecycle.onDispose(() => Promise.race([told, sleep(PARTING_MS)]))
    // Its first screen is drawn after everything else.
    setTimeout(() => tell({ event: 'started' }, api.route.current.params?.sessionID), 0)
  },
}

/** Ignores events in the format of another version. @param {Tui['event']} event @returns {Tui['event']} */
function quietly(event) {
  return {
    on: (type, handler) =>
      event.on(type, (told) => {
        try {
          handler(told)
        } catch {
          // The screen still shows it.
        }
      }),
  }
}

/** @param {Tui} api @param {(what: Told, session?: string) => void} tell */
function listen({ event, state, route }, tell) {
  /** @type {Map<string, ReturnType<typeof openTurn>>} The running turns, by session. */
  const turns = new Map()
  /** @type {Map<string, string>} The sessions of subagents. */
  const parents = new Map()
  /** @type {Map<string, 'known' | 'told'>} The prompts; their text comes later. */
  const prompts = new Map()
  let shown = route.current.params?.sessionID ?? ''

  /** @param {string} session @returns {string} The session that it works for. */
  const mainOf = (session) => {
    const parent = parents.get(session) ?? state.session.get(session)?.parentID
    return parent ? mainOf(parent) : session
  }
  /** @param {string} session */
  const show = (session) => {
    if (session !== shown) tell({ event: 'session' }, session)
    shown = session
  }
  onQuestions(event, (what) => tell(what, shown))
  event.on('session.created', ({ properties: { info } }) => {
    if (info.parentID) parents.set(info.id, info.parentID)
    else show(info.id)
  })
  event.on('message.updated', ({ properties: { info } }) => {
    turns.get(mainOf(info.sessionID))?.saw(info)
    if (info.role !== 'user' || prompts.has(info.id) || mainOf(info.sessionID) !== info.sessionID) return
    prompts.set(info.id, 'known')
  })
  event.on('message.part.updated', ({ properties: { part } }) => {
    const { sessionID, messageID, type, text = '' } = part
    turns.get(mainOf(sessionID))?.sawPart(part)
    if (type !== 'text' || part.synthetic || part.ignored || prompts.get(messageID) !== 'known') return
    prompts.set(messageID, 'told')
    show(sessionID)
    const turn = turns.get(sessionID) ?? openTurn(sessionID, messageID)
    turns.set(sessionID, turn)
    tell({ event: 'prompt', prompt: text, turn: turn.name }, sessionID)
  })
  event.on('session.error', ({ properties: { sessionID = '', error } }) => turns.get(sessionID)?.failed(error ?? {}))
  // A session is also idle after the user's own shell command.
  event.on('session.idle', ({ properties: { sessionID } }) => {
    const turn = turns.get(sessionID)
    turns.delete(sessionID)
    if (turn) tell({ event: 'stop', ...turn.stop(), turn: turn.name }, sessionID)
  })
}

/** Includes questions of subagents: they are shown to the same user. @param {Tui['event']} event @param {(what: Told) => void} tell */
function onQuestions(event, tell) {
  /** @type {Map<string, NodeJS.Timeout>} Questions that may answer themselves. */
  const fresh = new Map()
  /** @type {Set<string>} Questions that were reported and are open. */
  const open = new Set()
  /** @param {string} id @param {string} question */
  const asks = (id, question) => {
    const ask = () => {
      open.add(id)
      tell({ event: 'asks', question })
    }
    fresh.set(id, setTimeout(ask, ASKS_MS))
  }
  /** @param {{ properties: { requestID: string } }} event */
  const answered = ({ properties: { requestID } }) => {
    clearTimeout(fresh.get(requestID))
    fresh.delete(requestID)
    if (open.delete(requestID) && open.size === 0) tell({ event: 'answered' })
  }
  event.on('permission.asked', ({ properties: { id, permission, patterns = [], metadata } }) =>
    asks(id, `It asks for permission: ${permission} ${metadata?.command ?? patterns.join(' ')}`.trim()),
  )
  event.on('question.asked', ({ properties: { id, questions } }) =>
    asks(id, questions.map(({ question }) => question).join('\n')),
  )
  event.on('permission.replied', answered)
  event.on('question.replied', answered)
  event.on('question.rejected', answered)
}

/** @param {NodeJS.ProcessEnv} env @returns {string[] | undefined} */
function parseHook({ RALPH_PANE, RALPH_PANE_TELL }) {
  try {
    const hook = RALPH_PANE ? JSON.parse(RALPH_PANE_TELL ?? '[]') : []
    return hook.length > 0 ? hook : undefined
  } catch {
    return undefined // not from us
  }
}

/** Whatever goes wrong, the session continues. @param {string[]} hook @param {object} what */
function call([program = '', ...args], what) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    child.on('error', resolve).on('close', resolve)
    child.stdin.on('error', () => {}) // it may exit without reading
    child.stdin.end(JSON.stringify(what))
  }).catch(() => {})
}

/** The outcome of a turn, gathered while it runs; spending in subagent sessions counts as its own. @param {string} session @param {string} name */
function openTurn(session, name) {
  /** @type {Map<string, Info>} */
  const messages = new Map()
  /** @type {Map<string, Part>} */
  const parts = new Map()
  /** @type {Failure | undefined} */
  let failure
  return {
    name,
    /** @param {Info} info */
    saw(info) {
      if (info.role === 'assistant') messages.set(info.id, info)
    },
    /** @param {Part} part */
    sawPart(part) {
      parts.set(part.id, part)
    },
    /** @param {Failure} error */
    failed(error) {
      failure = error
    },
    /** @returns {Turned} */
    stop() {
      const said = [...messages.values()]
      const last = said.findLast(({ sessionID, summary }) => sessionID === session && !summary)
      const all = [...parts.values()]
      const words = all.filter(
        ({ messageID, type, synthetic }) => messageID === last?.id && type === 'text' && !synthetic,
      )
      return {
        ...outcomeOf(last, failure),
        last_assistant_message: words.map(({ text }) => text).join('\n'),
        tokens: sum(said.flatMap(({ tokens }) => (tokens ? amounts(tokens) : []))),
        cost_usd: sum(said.map(({ cost }) => cost ?? 0)),
        ran: all.flatMap(({ tool, state }) => (tool === 'bash' ? commandOf(state) : [])),
      }
    },
  }
}

/** @param {Info} [last] @param {Failure} [failure] @returns {Pick<Turned, 'outcome' | 'error_message'>} */
function outcomeOf(last, failure) {
  // A session is idle a moment before its last message has the error. A finished message has recovered from it.
  const isWhole = last?.finish !== undefined && last.finish !== 'tool-calls'
  const error = last?.error ?? (isWhole ? undefined : failure)
  if (error && error.name !== 'MessageAbortedError') return { outcome: 'error', error_message: wordsOf(error) }
  // It ends midway when the user refuses a permission or an answer.
  return { outcome: error || last?.finish === 'tool-calls' ? 'aborted' : 'completed' }
}

/** @param {Part['state']} state */
function commandOf({ input, error } = {}) {
  return input?.command && !/rejected permission/i.test(error ?? '') ? [input.command] : []
}

/** @param {Failure} error */
function wordsOf({ name, data }) {
  const after = data?.responseHeaders?.['retry-after']
  return [data?.statusCode, data?.message || name, after && `(retry-after: ${after})`].filter(Boolean).join(' ')
}

/** @param {Tokens} tokens */
const amounts = ({ input, output, reasoning, cache }) => [input, output, reasoning, cache.read, cache.write]

/** @param {number[]} numbers */
const sum = (numbers) => numbers.reduce((one, other) => one + other, 0)
