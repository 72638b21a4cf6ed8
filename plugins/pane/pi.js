/** Reports to ralph what happens in a Pi in one of its panes. Decides nothing, and changes nothing in the session. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

/** @import { Memory, Pi, PiContext, PiMessage, Tell, Turned, Usage } from './host.d.mts' */

const LIMIT_MS = 30_000
/** Pi may refuse a prompt after accepting it: no model, no key, another extension. It says so only on its screen. */
const BEGINS_MS = 10_000
const LOOK_MS = 1_000
/** As old and new terminals send it. */
const ESCAPES = ['\x1b', '\x1b[27u', '\x1b[27;1u', '\x1b[27;1:1u']

/** @param {Pi} pi */
export default function pane(pi) {
  const hook = parseHook(process.env)
  if (!hook) return
  const memory = remember()
  /** In order and one at a time; not awaited. @type {Tell} */
  const tell = ({ cwd, sessionManager }, what) => {
    const told = { host: 'pi', session_id: sessionManager?.getSessionId(), cwd, ...what }
    memory.told = memory.told.then(() => call(hook, told))
  }
  onTrust(pi, tell, memory)
  onSession(pi, tell, memory)
  onTurns(pi, tell, memory)
  pi.on('ui_prompt_start', ({ title, kind }, context) => {
    memory.isAsking = true
    tell(context, { event: 'asks', question: title ?? `An extension shows a dialog (${kind}).` })
  })
  pi.on('ui_prompt_end', (_, context) => {
    memory.isAsking = false
    tell(context, { event: 'answered' })
  })
}

/** Pi reloads this file for every session. @returns {Memory} */
function remember() {
  /** @type {{ ralphPane?: Memory }} */
  const kept = Object(globalThis)
  kept.ralphPane ??= { session: '', turns: 0, told: Promise.resolve() }
  return kept.ralphPane
}

/** @param {Pi} pi @param {Tell} tell @param {Memory} memory */
function onTrust(pi, tell, memory) {
  pi.on('project_trust', (_, context) => {
    // If the answer is already known, Pi does not ask, and the session starts.
    memory.trust = setTimeout(() => {
      memory.isAsking = true
      tell(context, { event: 'asks', question: 'Trust the project folder?' })
    }, LOOK_MS)
    return { trusted: 'undecided' }
  })
  pi.on('session_start', (_, context) => {
    clearTimeout(memory.trust)
    if (memory.isAsking) tell(context, { event: 'answered' })
    memory.isAsking = false
  })
}

/** @param {Pi} pi @param {Tell} tell @param {Memory} memory */
function onSession(pi, tell, memory) {
  pi.on('session_start', (_, context) => {
    const session = context.sessionManager?.getSessionId() ?? ''
    if (session !== memory.session) tell(context, { event: memory.session ? 'session' : 'started' })
    memory.session = session
  })
}

/** @param {Pi} pi @param {Tell} tell @param {Memory} memory */
function onTurns(pi, tell, memory) {
  /** @type {ReturnType<typeof openTurn> | undefined} The running turn. */
  let turn
  /** @type {NodeJS.Timeout | undefined} */
  let beginning
  /** @type {(() => void) | undefined} */
  let unlisten
  const begin = () => {
    turn ??= openTurn(`${process.pid}-${++memory.turns}`)
    return turn
  }
  /** @param {PiContext} context @param {string} [refused] */
  const settle = (context, refused) => {
    clearInterval(beginning)
    if (turn) tell(context, { event: 'stop', ...turn.stop(refused), turn: turn.name })
    turn = undefined
  }

  pi.on('session_start', (_, { ui }) => {
    // When the user cancels its wait for a retry, Pi reports only the earlier error.
    unlisten = ui.onTerminalInput((key) => {
      if (turn && ESCAPES.includes(key)) turn.escaped = true
    })
  })
  pi.on('input', ({ text }, context) => {
    tell(context, { event: 'prompt', prompt: text, turn: begin().name })
    if (!context.isIdle()) return
    let idleMs = 0
    clearInterval(beginning)
    beginning = setInterval(() => {
      idleMs = context.isIdle() && !memory.isAsking ? idleMs + LOOK_MS : 0
      if (idleMs >= BEGINS_MS) settle(context, 'Pi accepted the prompt but started no turn: its screen says why.')
    }, LOOK_MS)
  })
  pi.on('agent_start', () => {
    clearInterval(beginning)
    Object.assign(begin(), { aborted: false, escaped: false })
  })
  pi.on('message_end', ({ message }) => turn?.saw(message))
  pi.on('session_compact', ({ compactionEntry }) => turn?.spend(compactionEntry?.usage))
  pi.on('agent_end', (_, { signal }) => {
    if (turn && signal?.aborted) turn.aborted = true
  })
  pi.on('agent_settled', (_, context) => settle(context))
  pi.on('session_shutdown', (_, context) => {
    unlisten?.()
    if (turn) turn.aborted = true
    settle(context)
    return Promise.race([memory.told, sleep(LOOK_MS)])
  })
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

/** The outcome of a turn, gathered while it runs. @param {string} name */
function openTurn(name) {
  /** @type {PiMessage | undefined} */
  let last
  let said = ''
  let tokens = 0
  let costUsd = 0
  /** @type {string[]} */
  const ran = []
  return {
    name,
    aborted: false,
    escaped: false,
    /** @param {PiMessage} message */
    saw(message) {
      if (message.role !== 'assistant') return
      last = message
      const blocks = Array.isArray(message.content) ? message.content : []
      said = blocks.flatMap(({ type, text }) => (type === 'text' && text ? [text] : [])).join('\n') || said
      for (const { type, name, arguments: given } of blocks)
        if (type === 'toolCall' && (name === 'bash' || name === 'powershell')) ran.push(String(given?.command ?? ''))
      this.spend(message.usage)
    },
    /** @param {Usage} [usage] */
    spend({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = {}) {
      tokens += input + output + cacheRead + cacheWrite
      costUsd += cost?.total ?? 0
    },
    /** @param {string} [refused] @returns {Turned} */
    stop(refused) {
      const error = refused ?? errorOf(last)
      const isAborted = this.aborted || (error !== undefined && this.escaped)
      return {
        outcome: isAborted ? 'aborted' : error === undefined ? 'completed' : 'error',
        ...(isAborted || error === undefined ? {} : { error_message: error }),
        last_assistant_message: said,
        tokens,
        cost_usd: costUsd,
        ran,
      }
    },
  }
}

/** @param {PiMessage} [last] */
function errorOf(last) {
  if (!last) return 'Pi ended the turn without an answer.'
  return last.stopReason === 'error' ? (last.errorMessage ?? 'an error') : undefined
}
