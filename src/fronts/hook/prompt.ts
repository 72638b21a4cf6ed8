/** What the user typed in their session: a ralph command, or something else. */
import type { CommandName } from '../../session/hosts.ts'
import { type Json, word } from './payload.ts'

export type Typed =
  | { kind: 'command'; command: CommandName; args: string; trusts?: string }
  | { kind: 'prompt'; words: string }
  | { kind: 'woke' }

/** Undefined for an event that ralph does not know. */
export function readTyped(event: string, payload: Json): Typed | undefined {
  switch (event) {
    case 'command':
      return isCommandName(payload.command)
        ? {
            kind: 'command',
            command: payload.command,
            args: word(payload.args) ?? '',
            ...(typeof payload.trusts === 'string' ? { trusts: payload.trusts } : {}),
          }
        : undefined
    case 'woke':
      return { kind: 'woke' }
    case 'prompt':
    case 'UserPromptSubmit':
    case 'userPromptSubmitted':
    case 'BeforeAgent':
    case 'beforeSubmitPrompt':
      return typedBy(payload)
    default:
      return undefined
  }
}

/** Some hosts report their own events as prompts, such as a tool result or the end of a background task. */
function typedBy(payload: Json): Typed | undefined {
  const typed = parseTyped(word(payload.submitted_prompt) ?? word(payload.prompt) ?? '')
  if (typed.kind === 'prompt' && /^\s*($|<(task-|system_)notification>)/.test(typed.words)) return undefined
  return typed
}

const COMMANDS: readonly CommandName[] = ['loop', 'cancel', 'status', 'help', 'pause', 'resume', 'steer']

function isCommandName(name: unknown): name is CommandName {
  return COMMANDS.some((command) => command === name)
}

// What the user may type, and what hosts turn it into before a hook sees it.
const TYPED =
  /^\s*[/$]?(?:ralph[:.-](loop|cancel|status|help|pause|resume|steer)|(cancel)-ralph)(?:[ \t]+|(?=[\r\n])|$)([\s\S]*)$/
const SKILL =
  /^The user explicitly invoked the "\/ralph[:-](\w+)" skill[\s\S]*?(?:\n\nARGUMENTS: ([\s\S]*))?\n<\/skill-context>\s*$/
const TAGGED =
  /^\s*(?:<command-message>[^<]*<\/command-message>\s*)?<command-name>\/?ralph:(\w+)<\/command-name>(?:[\s\S]*?<command-args>([\s\S]*)<\/command-args>)?\s*$/

// Droid sends the text of a command's file: its last line is what was typed; otherwise its first line names the command.
const NOTIFIED =
  /^\s*<system-notification>(?:[\s\S]*?\n(\/ralph[:-][\s\S]*?)|\s*(ralph:\w+)\b[\s\S]*?)\s*<\/system-notification>\s*$/

// The text of a command's file is in brackets, followed by what was typed.
const FILE = /^\n\n(?:\[ralph: [^\]]*\])?(?:\n*\/ralph[:.-]\w+(?:\s([\s\S]*))?)?$/

export function parseTyped(prompt: string): Typed {
  const [, skill, skillArgs = ''] = SKILL.exec(prompt) ?? TAGGED.exec(prompt) ?? []
  const [, typed, named] = NOTIFIED.exec(prompt) ?? []
  const [, name, cancel, args = ''] = TYPED.exec(typed ?? named ?? prompt) ?? []
  const command = skill ?? name ?? cancel
  if (!isCommandName(command)) return { kind: 'prompt', words: prompt }
  const file = FILE.exec(args)
  const raw = skill ? skillArgs : file ? (file[1] ?? '') : args
  return { kind: 'command', command, args: raw.trimEnd() }
}
