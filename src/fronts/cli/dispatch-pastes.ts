/** Text pasted into the prompt line. */
import type { Context } from './context.ts'

type Pastes = {
  /** The complete text. Undefined: this line was pasted, and more may follow. */
  join(line: string): string | undefined
  forget(): void
  /** Turns on bracketed paste again; another program may have turned it off. */
  ask(): void
  close(): void
}

/** Joins pasted lines into one text, until the user presses Enter. */
export function watchPastes({ stdin, stdout }: Context['machine']): Pastes {
  let pasting = false
  let lines: string[] = []
  const hear = (_: unknown, { name }: { name?: string }) => {
    if (name === 'paste-start' || name === 'paste-end') pasting = name === 'paste-start'
  }
  const ask = () => void stdout.write('\u001b[?2004h')
  stdin.on('keypress', hear)
  ask()
  return {
    join(line) {
      lines.push(line)
      if (pasting) return undefined
      const text = lines.join('\n')
      lines = []
      return text
    },
    forget() {
      lines = []
    },
    ask,
    close() {
      stdin.off('keypress', hear)
      stdout.write('\u001b[?2004l')
    },
  }
}
