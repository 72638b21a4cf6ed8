/** What is measured inside the page: each function runs there, so that nothing but the page is in the figures. */

/** Browsers report tasks of 50 ms and more; 0 is none. */
export type Smoothness = { longestTask: number; frames: number[]; mostRows: number }

type Entry = { duration: number; startTime: number }
type Scrolled = { scrollTop: number; scrollHeight: number; clientHeight: number }
type Probe = { tasks: Entry[]; paintedAt: number }

/** What is used of the browser. */
type Page = {
  probe: Probe
  document: { querySelector(what: string): Scrolled | null; querySelectorAll(what: string): { length: number } }
  requestAnimationFrame(work: (at: number) => void): void
  PerformanceObserver: new (
    heard: (list: { getEntries(): Entry[] }) => void,
  ) => { observe(what: { type: string; buffered: boolean }): void }
}

/** Before anything else: notes long tasks, and when the first of these has been painted. */
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
    // The frame that holds it is painted before the next one begins.
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
 * Moves a list and notes every frame. `to`: from here to these shares of its height, one after another, so many frames each.
 * `until`: to its end, again and again, until so many rows of this height were there. `still`: only looks.
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
      top = box.scrollTop // no further than the rows that have come
    }
    if (box.scrollTop < rows * height) throw new Error(`It came to row ${Math.round(box.scrollTop / height)} only.`)
  } else for (let n = 0; n < how.frames; n += 1) await frame()
  await new Promise((done) => setTimeout(done, 100)) // long tasks are told late
  const tasks = page.probe.tasks.filter(({ startTime }) => startTime >= from)
  return { longestTask: Math.max(0, ...tasks.map(({ duration }) => duration)), frames, mostRows }
}

/** When the first row was painted, and the longest task since the navigation; undefined while nothing is there. */
export function painted(): { ms: number; longestTask: number } | undefined {
  const { probe } = globalThis as unknown as Page
  if (probe.paintedAt === 0) return undefined
  return { ms: probe.paintedAt, longestTask: Math.max(0, ...probe.tasks.map(({ duration }) => duration)) }
}
