/** The animated lines at the bottom of a terminal. Without a terminal, nothing is drawn. */
import { EMPTY_LINE, type Output, paint, short, withoutLines } from './text.ts'

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'

/** One line. */
export function openStatusLine(output: Output): {
  set(text: () => string): void
  clear(): void
  above(text: string): void
} {
  let text: (() => string) | undefined
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  const draw = () => {
    if (text)
      output.write(
        `${EMPTY_LINE}${paint(output, 'cyan', FRAMES[frame++ % FRAMES.length] ?? '')} ${paint(output, 'dim', short(text(), output.columns - 3))}`,
      )
  }
  const clear = () => {
    if (timer) {
      clearInterval(timer)
      output.write(EMPTY_LINE)
    }
    timer = undefined
    text = undefined
  }
  return {
    set(next) {
      if (!output.live) return
      text = next
      timer ??= setInterval(draw, 100).unref()
      draw()
    },
    clear,
    above(line) {
      const kept = text
      clear()
      output.write(line)
      if (kept) this.set(kept)
    },
  }
}

/** Several lines. */
export function openBlock(
  out: Output,
  lines: () => string[],
): { set(): void; clear(): void; above(text: string): void } {
  let timer: NodeJS.Timeout | undefined
  let drawn = 0
  let frame = 0
  const draw = () => {
    const spinner = paint(out, 'cyan', FRAMES[frame++ % FRAMES.length] ?? '')
    const text = lines().map((line, index) => (index === 0 ? `${spinner} ${line}` : line))
    out.write(`${withoutLines(drawn)}${text.join('\n')}`)
    drawn = text.length
  }
  const clear = () => {
    if (timer) clearInterval(timer)
    timer = undefined
    out.write(withoutLines(drawn))
    drawn = 0
  }
  return {
    set() {
      if (!out.live) return
      timer ??= setInterval(draw, 100).unref()
    },
    clear,
    above(text) {
      const moving = timer !== undefined
      clear()
      out.write(text)
      if (moving) this.set()
    },
  }
}
