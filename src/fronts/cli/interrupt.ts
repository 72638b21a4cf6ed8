/** Ctrl-C: the first pauses after the current iteration, the second stops at once, as a closed terminal does. */

export type Interrupting = {
  /** The message for the first Ctrl-C. */
  pausing: string
  say(text: string): void
  /** What the first Ctrl-C does. */
  pause?(): Promise<void>
}

/** `rest` fires when nothing new should start, `stop` when running work should stop at once. */
export type Stopping = {
  rest: AbortSignal
  stop: AbortSignal
  /** Stops after the current work, and says why. */
  windDown(why: string): void
  release(): void
}

export function onInterrupt({ pausing, say, pause = async () => {} }: Interrupting): Stopping {
  const [rest, stop] = [new AbortController(), new AbortController()]
  let paused: Promise<void> | undefined
  const stopNow = () => {
    rest.abort()
    paused ??= pause()
    void paused.catch(() => {}).then(() => stop.abort())
  }
  const windDown = (why: string) => {
    if (!rest.signal.aborted) say(why)
    rest.abort()
  }
  const interrupt = () => {
    if (rest.signal.aborted) return stopNow()
    paused ??= pause()
    paused.catch(() => {}) // a store that cannot be written is noticed when the turn is saved
    windDown(pausing)
  }
  process.on('SIGINT', interrupt).on('SIGTERM', stopNow).on('SIGHUP', stopNow)
  return {
    rest: rest.signal,
    stop: stop.signal,
    windDown,
    release: () => void process.off('SIGINT', interrupt).off('SIGTERM', stopNow).off('SIGHUP', stopNow),
  }
}
