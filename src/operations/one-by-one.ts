/** Runs work each time it is woken, but never twice at once. */

/** Runs once per wake-up, sequentially; a wake-up during a run triggers another run. */
export function oneByOne(
  work: () => Promise<void>,
  fail: (cause: unknown) => void,
): { wake(): void; rest(): Promise<void> } {
  let last = Promise.resolve()
  let again = false
  return {
    wake() {
      if (again) return
      again = true
      last = last.then(() => {
        again = false
        return work().catch(fail)
      })
    },
    rest: () => last,
  }
}
