/** Captures what a command prints, to a terminal or a pipe: a real context with recorded streams. */
import { Readable, Writable } from 'node:stream'
import { START } from '../../engine/stories.test-support.ts'
import { type Context, openContext } from './context.ts'

export type Screen = { context: Context; printed(): string; lines(): string[] }

/** `columns`: makes it a terminal. The clock stands at the start of every story, and there are no colors. */
export function openScreen({ columns, now = () => START }: { columns?: number; now?: () => number } = {}): Screen {
  const { stream: stdout, text } = openRecorder()
  const machine = {
    env: { NO_COLOR: '1', RALPH_HOME: '/home/ada/.ralph' },
    cwd: () => '/home/shop',
    stdin: Readable.from([]),
    stdout: columns === undefined ? stdout : Object.assign(stdout, { isTTY: true, columns }),
    stderr: stdout,
  }
  const context = openContext({ root: '/ralph', version: '0.0.0' }, machine)
  return {
    context: { ...context, now },
    printed: text,
    lines: () => text().split('\n').filter(Boolean),
  }
}

/** A stream that keeps what is written to it. */
export function openRecorder(): { stream: Writable; text(): string } {
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      text += chunk
      done()
    },
  })
  return { stream, text: () => text }
}
