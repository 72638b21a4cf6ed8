/** Ctrl-C: the first one pauses after what is under way, the second ends it now. A closed terminal ends it now, too. */

export type Interrupting = {
  /** What the first one says. */
  pausing: string
  say(text: string): void
  /** What it does besides. */
  pause?(): Promise<void>
}

/** `rest` fires when nothing new is to be begun, `stop` when what is under way is to end at once. */
export type Stopping = {
  rest: AbortSignal
  stop: AbortSignal
  /** Ends after what is under way, and says why. */
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
