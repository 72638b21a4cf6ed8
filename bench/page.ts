/** The page in a real browser: how soon ten thousand loops are on the screen, and whether long lists and texts scroll smoothly. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, installBrowser, openTabs, type Page } from '../test/browser.ts'
import { inTemporaryFolder } from './leftovers.ts'
import { fillWithLoops } from './many-loops.ts'
import { openWatchedLoop, type WatchedLoop, writeTranscript } from './page-loop.ts'
import { installProbe, painted, type Scrolling, type Smoothness, scroll } from './page-probe.ts'
import type { Row, Unit } from './row.ts'
import { type Server, withServer } from './server.ts'

const LOOPS = 10_000
const ITERATIONS = 1_000
const ROUNDS = 3
const SCROLLED = 5_000
const TRANSCRIPT_MB = 50

const ROW_HEIGHT = 60
const LOOP_ROW = '.loop-row:not(.head)'
const LIST: Pick<Scrolling, 'box' | 'rows'> = { box: '.loop-table .virtual', rows: LOOP_ROW }
const TIMELINE: Pick<Scrolling, 'box' | 'rows'> = { box: '.timeline .virtual', rows: '.iteration-row' }
const LOG: Pick<Scrolling, 'box' | 'rows'> = { box: '.log', rows: '.log-line' }

export async function* page(): AsyncGenerator<Row> {
  const browser = await installBrowser()
  if ('missing' in browser) return console.log(`skipped: page: ${browser.missing}`)
  const running = await browser.launch()
  try {
    yield* await inTemporaryFolder(async (home) => {
      await fillWithLoops({ home }, LOOPS, 10)
      return withServer(home, [], (server) => list(running, server))
    })
    yield* await inTemporaryFolder((home) => withServer(home, [], (server) => oneLoop(running, server, home)))
  } finally {
    await running.close()
  }
}

async function list(running: Browser, server: Server): Promise<Row[]> {
  const loads: { ms: number; longestTask: number }[] = []
  const moved: Smoothness[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const { page: opened, load } = await open(running, server, '/loops', LOOP_ROW)
    loads.push(load)
    moved.push(await move(opened, { ...LIST, frames: 20_000, until: { rows: SCROLLED, height: ROW_HEIGHT } }))
    await opened.context().close()
  }
  return [
    calmest(
      'page: 10,000 loops, from navigation to painted rows',
      loads.map(({ ms }) => ms),
      'ms',
      1_000,
    ),
    calmest(
      'page: the same, longest task',
      loads.map(({ longestTask }) => longestTask),
      'ms',
      100,
    ),
    ...smooth(`page: scrolling through ${SCROLLED.toLocaleString('en')} loops`, moved),
  ]
}

async function oneLoop(running: Browser, server: Server, home: string): Promise<Row[]> {
  const loop = await openWatchedLoop(home)
  const [watched, moved, read]: Smoothness[][] = [[], [], []]
  try {
    await loop.advance(ITERATIONS)
    writeTranscript(home, TRANSCRIPT_MB)
    for (let round = 0; round < ROUNDS; round += 1) {
      const { page: opened } = await open(running, server, `/loops/${loop.id}`, TIMELINE.rows)
      const stop = work(loop)
      watched?.push(await move(opened, { ...TIMELINE, frames: 300, still: true }))
      moved?.push(await move(opened, { ...TIMELINE, frames: 240, to: [1, 0, 0.5] }))
      await stop()
      await opened.context().close()
    }
    for (let round = 0; round < ROUNDS; round += 1) {
      const { page: opened } = await open(running, server, `/loops/${loop.id}?i=1&tab=transcript`, LOG.rows)
      read?.push(await move(opened, { ...LOG, frames: 400, to: [0.01, 1, 0.5] }))
      await opened.context().close()
    }
  } finally {
    await loop.close()
  }
  return [
    ...smooth('page: 1,000 iterations while more arrive', watched),
    ...smooth('page: scrolling through them while more arrive', moved),
    ...smooth(`page: scrolling through ${TRANSCRIPT_MB} MB of transcript`, read),
  ]
}

/** An iteration every 200 ms: no agent is that fast. Returns a function that stops it. */
function work(loop: WatchedLoop): () => Promise<void> {
  const stop = new AbortController()
  const working = (async () => {
    for (; !stop.signal.aborted; await sleep(200)) await loop.advance(1)
  })()
  return () => {
    stop.abort()
    return working
  }
}

async function open(running: Browser, { url, token }: Server, path: string, rows: string) {
  const { context, open: openTab } = await openTabs(running)
  await context.addInitScript(installProbe, rows)
  const opened = await openTab(`${new URL(path, url)}#t=${token}`)
  for (;;) {
    const load = await opened.evaluate(painted)
    if (load) return { page: opened, load }
    await sleep(50)
  }
}

function move(opened: Page, how: Scrolling): Promise<Smoothness> {
  return opened.evaluate(scroll, how)
}

/** From the calmest round: other work on the machine can only make a round slower. */
function smooth(what: string, rounds: readonly Smoothness[] = []): Row[] {
  const frames = rounds.map((round) => share(round.frames, 0.95))
  return [
    calmest(`${what}, frames, p95`, frames, 'ms', 34),
    calmest(
      `${what}, longest task`,
      rounds.map(({ longestTask }) => longestTask),
      'ms',
      100,
    ),
    calmest(`${what}, rows`, [Math.max(...rounds.map(({ mostRows }) => mostRows))], 'rows', 80),
  ]
}

function calmest(what: string, values: readonly number[], unit: Unit, budget: number): Row {
  const measured = { median: share(values, 0.5), calm: Math.min(...values) }
  return { what, measured, unit, figure: { value: measured.calm, unit }, budget }
}

function share(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
