/** A prompt as pasted into a terminal: nothing in it acts as a key or a command of the client. Pure. */

/** Visible text stays; a check may print in colors, and a task may contain the end-of-paste sequence. */
export function asText(prompt: string): string {
  const text = prompt.replace(SEQUENCES, '').replace(/\r\n?/g, '\n').replace(KEYS, '').toWellFormed()
  return COMMAND.test(text) ? `Your task:\n\n${text}` : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g
// All except tab and line break.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be typed
const KEYS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** A prompt that starts with one of these looks to clients like their own command, or even a shell command. */
const COMMAND = /^\s*[/!#$&@]/
