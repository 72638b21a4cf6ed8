/** Texts that are pasted into a prompt line. */
import type { Context } from './context.ts'

type Pastes = {
  /** A whole text. Undefined: this line was pasted, and more may follow. */
  join(line: string): string | undefined
  forget(): void
  /** Tells the terminal to mark them; another program may have told it otherwise. */
  ask(): void
  close(): void
}

/** A pasted text is one text however many lines it has, until Enter is pressed. */
export function hearPastes({ stdin, stdout }: Context['machine']): Pastes {
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
