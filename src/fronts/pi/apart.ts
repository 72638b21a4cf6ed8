/** The process next to the session that works on its loop, restarted whenever the loop continues. */
import { type ChildEvent, type ChildLoop, startChildLoop } from './child-loop.ts'
import type { Program } from './hook-program.ts'
import type { Session } from './session.ts'

export type Apart = {
  run(loop: string): void
  /** Pauses at once and says so. */
  end(): void
  /** Pauses at once and stays silent. */
  halt(): Promise<void>
}

export function openApart(
  session: Session,
  program: Program,
  heard: { saw(event: ChildEvent): void; ended(): void },
): Apart {
  let child: ChildLoop | undefined
  return {
    run(loop) {
      const running = startChildLoop(program.ralph('resume', loop, '--json'), session.place().cwd, (event) => {
        if (child === running) heard.saw(event)
      })
      child = running
      void running.ended.then(() => {
        if (child !== running) return
        child = undefined
        heard.ended()
      })
    },
    end: () => child?.end(),
    async halt() {
      const running = child
      child = undefined
      running?.end()
      await running?.ended
    },
  }
}
