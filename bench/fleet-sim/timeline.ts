/** Simulated time: the next due event happens next, and nothing else takes any time. */

export type Timeline = {
  now(): number
  at(time: number, act: () => void): void
  after(ms: number, act: () => void): void
  runUntil(time: number): void
}

type Due = { time: number; order: number; act: () => void }

export function newTimeline(): Timeline {
  const heap: Due[] = []
  let now = 0
  let order = 0
  const at = (time: number, act: () => void) => push(heap, { time: Math.max(time, now), order: order++, act })
  return {
    now: () => now,
    at,
    after: (ms, act) => at(now + ms, act),
    runUntil(time) {
      for (let next = heap[0]; next && next.time <= time; next = heap[0]) {
        pop(heap)
        now = next.time
        next.act()
      }
      now = time
    },
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.time < other.time || (one.time === other.time && one.order < other.order)
}

function push(heap: Due[], due: Due): void {
  let place = heap.push(due) - 1
  while (place > 0) {
    const above = (place - 1) >> 1
    const parent = heap[above] as Due // above 0 and below the end
    if (!isBefore(due, parent)) break
    heap[place] = parent
    place = above
  }
  heap[place] = due
}

function pop(heap: Due[]): void {
  const last = heap.pop()
  if (!last || heap.length === 0) return
  let place = 0
  for (;;) {
    const left = 2 * place + 1
    const [one, other] = [heap[left], heap[left + 1]]
    if (!one) break
    const child = other && isBefore(other, one) ? left + 1 : left
    const due = heap[child] as Due // one of the two from above
    if (!isBefore(due, last)) break
    heap[place] = due
    place = child
  }
  heap[place] = last
}
