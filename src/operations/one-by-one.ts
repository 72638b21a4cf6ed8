/** Work that is woken from outside, however often, and never done twice at once. */

/** Does something each time it is woken, one after the other; what happens during one is seen by the next. */
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
