/** Shares the screen between the prompt line, news above it, a full-screen view, and other programs. */
import type { Interface } from 'node:readline'
import type { Context } from './context.ts'
import { EMPTY_LINE, EMPTY_SCREEN } from './text.ts'

export type PromptScreen = {
  prompt(): void
  /** Prints above the line, or later if something else has the screen. */
  above(text: string): void
  /** Gives keyboard and screen to another program. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>
  /** Redraws on every change, until the user presses Enter. */
  watch(draw: () => Promise<string>): Promise<void>
  /** Returns false if nothing is being watched. */
  endWatching(): boolean
  isClosed(): boolean
  close(): void
}

export function openScreen({ out, store }: Pick<Context, 'out' | 'store'>, line: Interface): PromptScreen {
  let closed = false
  let kept: string[] | undefined
  let endWatch: (() => void) | undefined

  async function apart<Result>(work: () => Promise<Result>): Promise<Result> {
    kept = []
    try {
      return await work()
    } finally {
      const text = kept.join('')
      kept = undefined
      out.write(`${EMPTY_LINE}${text}`)
    }
  }

  return {
    prompt: () => closed || line.prompt(),
    above(text) {
      if (kept) return void kept.push(text)
      if (closed) return out.write(text)
      out.write(`${EMPTY_LINE}${text}`)
      line.prompt(true)
    },
    lend: (work) =>
      apart(async () => {
        line.pause()
        try {
          return await work()
        } finally {
          line.resume()
        }
      }),
    watch: (draw) =>
      apart(async () => {
        const again = async () => out.write(`${EMPTY_SCREEN}${await draw()}\nPress Enter to return.`)
        await again()
        const unwatch = store().onChange(() => void again().catch(() => {}))
        await new Promise<void>((done) => {
          endWatch = done
        })
        unwatch()
        endWatch = undefined
      }),
    endWatching() {
      endWatch?.()
      return endWatch !== undefined
    },
    isClosed: () => closed,
    close() {
      closed = true
      line.close()
    },
  }
}
