/** Measurements inside the page: each function runs there, so that the numbers include nothing but the page. */

/** Browsers report tasks of 50 ms and more; 0 means none. */
export type Smoothness = { longestTask: number; frames: number[]; mostRows: number }

type Entry = { duration: number; startTime: number }
type Scrolled = { scrollTop: number; scrollHeight: number; clientHeight: number }
type Probe = { tasks: Entry[]; paintedAt: number }

/** The parts of the browser that are used. */
type Page = {
  probe: Probe
  document: { querySelector(what: string): Scrolled | null; querySelectorAll(what: string): { length: number } }
  requestAnimationFrame(work: (at: number) => void): void
  PerformanceObserver: new (
    heard: (list: { getEntries(): Entry[] }) => void,
  ) => { observe(what: { type: string; buffered: boolean }): void }
}

/** Runs before anything else: records long tasks, and when the first of these elements was painted. */
export function installProbe(rows: string): void {
  const page = globalThis as unknown as Page
  const probe: Probe = { tasks: [], paintedAt: 0 }
  page.probe = probe
  new page.PerformanceObserver((list) => probe.tasks.push(...list.getEntries())).observe({
    type: 'longtask',
    buffered: true,
  })
  const look = () => {
    if (!page.document.querySelector(rows)) return page.requestAnimationFrame(look)
    // Its frame is painted before the next one starts.
    page.requestAnimationFrame(() => {
      probe.paintedAt = performance.now()
    })
  }
  page.requestAnimationFrame(look)
}

export type Scrolling = { box: string; rows: string; frames: number } & (
  | { to: number[] }
  | { until: { rows: number; height: number } }
  | { still: true }
)

/**
 * Scrolls a list and records every frame. `to`: to these shares of its height, one after another, this many frames each.
 * `until`: to its end, again and again, until this many rows of this height have loaded. `still`: does not scroll.
 */
export async function scroll(how: Scrolling): Promise<Smoothness> {
  const page = globalThis as unknown as Page
  const box = page.document.querySelector(how.box)
  if (!box) throw new Error(`There is no ${how.box}.`)
  const from = performance.now()
  const frames: number[] = []
  let mostRows = 0
  let last = await new Promise<number>(page.requestAnimationFrame)
  const frame = async () => {
    const at = await new Promise<number>(page.requestAnimationFrame)
    frames.push(at - last)
    last = at
    if (frames.length % 10 === 0) mostRows = Math.max(mostRows, page.document.querySelectorAll(how.rows).length)
  }
  if ('to' in how)
    for (const share of how.to) {
      const [start, end] = [box.scrollTop, share * (box.scrollHeight - box.clientHeight)]
      for (let n = 1; n <= how.frames; n += 1) {
        box.scrollTop = start + ((end - start) * n) / how.frames
        await frame()
      }
    }
  else if ('until' in how) {
    const { rows, height } = how.until
    for (let n = 0, top = 0; top < rows * height && n < how.frames; n += 1) {
      box.scrollTop = top + 5 * height
      await frame()
      top = box.scrollTop // no further than the rows that have loaded
    }
    if (box.scrollTop < rows * height) throw new Error(`It only reached row ${Math.round(box.scrollTop / height)}.`)
  } else for (let n = 0; n < how.frames; n += 1) await frame()
  await new Promise((done) => setTimeout(done, 100)) // long tasks are reported late
  const tasks = page.probe.tasks.filter(({ startTime }) => startTime >= from)
  return { longestTask: Math.max(0, ...tasks.map(({ duration }) => duration)), frames, mostRows }
}

/** When the first row was painted, and the longest task since the navigation; undefined before that. */
export function painted(): { ms: number; longestTask: number } | undefined {
  const { probe } = globalThis as unknown as Page
  if (probe.paintedAt === 0) return undefined
  return { ms: probe.paintedAt, longestTask: Math.max(0, ...probe.tasks.map(({ duration }) => duration)) }
}
