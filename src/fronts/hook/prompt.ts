/** What a person typed in their session: a command of ralph's, or something else. */
import type { CommandName } from '../../session/hosts.ts'
import { type Json, word } from './payload.ts'

export type Typed =
  | { kind: 'command'; command: CommandName; args: string }
  | { kind: 'prompt'; words: string }
  | { kind: 'woke' }

/** Undefined for an event that ralph does not know. */
export function readTyped(event: string, payload: Json): Typed | undefined {
  switch (event) {
    case 'command':
      return isCommandName(payload.command)
        ? { kind: 'command', command: payload.command, args: word(payload.args) ?? '' }
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

/** Some hosts tell their own doings as prompts: without words, or, where they name what was submitted, without that. */
function typedBy(payload: Json): Typed | undefined {
  const typed = parseTyped(word(payload.submitted_prompt) ?? word(payload.prompt) ?? '')
  if (typed.kind === 'prompt' && !typed.words.trim()) return undefined
  return typed
}

const COMMANDS: readonly CommandName[] = ['loop', 'cancel', 'status', 'help', 'pause', 'resume']

function isCommandName(name: unknown): name is CommandName {
  return COMMANDS.some((command) => command === name)
}

// What a person may type, and what hosts make of it before a hook sees it.
const TYPED =
  /^\s*[/$]?(?:ralph[:.-](loop|cancel|status|help|pause|resume)|(cancel)-ralph)(?:[ \t]+|(?=\n)|$)([\s\S]*)$/
const SKILL =
  /^The user explicitly invoked the "\/ralph:(\w+)" skill[\s\S]*?(?:\n\nARGUMENTS: ([\s\S]*))?\n<\/skill-context>\s*$/

export function parseTyped(prompt: string): Typed {
  const [, skill, skillArgs = ''] = SKILL.exec(prompt) ?? []
  const [, name, cancel, args = ''] = TYPED.exec(prompt.replace(/^\s*<system-notification>/, '')) ?? []
  const command = skill ?? name ?? cancel
  if (!isCommandName(command)) return { kind: 'prompt', words: prompt }
  // A host that sends the text of the command's file lets what was typed follow it.
  const [, typed] = /^\n\n\/ralph[:.-]\w+(?:[ \t]([\s\S]*))?$/.exec(args) ?? []
  const raw = skill ? skillArgs : args.startsWith('\n\n/ralph') ? (typed ?? '') : args
  return { kind: 'command', command, args: raw.trimEnd() }
}
