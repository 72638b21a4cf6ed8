/** A prompt as it is pasted into a terminal: nothing in it is a key, or a command of the client. Pure. */

/** What it shows a person stays; a check may print in colours, and a task may hold the end of a paste. */
export function asText(prompt: string): string {
  const text = prompt.replace(SEQUENCES, '').replace(/\r\n?/g, '\n').replace(KEYS, '').toWellFormed()
  return COMMAND.test(text) ? `Your task:\n\n${text}` : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g
// All but tab and line break.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be typed
const KEYS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
/** With these first, clients take a prompt for a command of their own, or even of the shell. */
const COMMAND = /^\s*[/!#$&@]/
