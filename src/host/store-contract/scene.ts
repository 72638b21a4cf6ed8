/** What every property of a store is tested with: a place that is empty at first, and stories of loops. */
import { afterEach, beforeEach } from 'vitest'
import { type Fact, type Loop, type Order, startLoop } from '../../engine/loop.ts'
import { step } from '../../engine/step.ts'
import {
  checks,
  claims,
  crashes,
  type Happening,
  idles,
  isLimited,
  lost,
  MINUTE,
  pause,
  resume,
  START,
  say,
  specOf,
  wantsPerson,
  woke,
  works,
} from '../../engine/stories.test-support.ts'
import { source, startScript } from '../place.test-support.ts'
import type { Held, Lease, LoopRow, Store } from '../store.ts'

/** How to create a kind of store, as data. */
export type StoreKind = { name: string; open(): Promise<StorePlace> }

/** A place that is empty at first; each connection to it is a separate store. */
export type StorePlace = {
  connect(): Promise<Store>
  /** TypeScript that connects to this place in another process: an expression. */
  elsewhere: string
  /** Frees the lease of a loop although its holder lives, as happens if it is taken for dead. */
  free(loop: string): Promise<void>
}

type Spec = Parameters<typeof specOf>[0]

export type Scene = {
  name: string
  readonly store: Store
  readonly place: StorePlace
  connect(): Promise<Store>
  /** Creates a loop and saves what happens to it. */
  story(id: string, spec: Spec, ...happenings: Happening[]): Promise<Loop>
  saves(id: string, ...happenings: Happening[]): Promise<Loop>
  everything(id: string): Promise<Everything>
  /** Another process, which has its own `store`, and the helpers below. */
  start(code: string): ReturnType<typeof startScript>
}

type Everything = { loop: Loop; row: LoopRow | undefined; events: unknown[]; iterations: unknown[]; told: object }

export function openScene({ name, open }: StoreKind): Scene {
  let place: StorePlace
  let store: Store
  let connections: Store[] = []

  beforeEach(async () => {
    place = await open()
    connections = []
    store = await connect()
  })

  afterEach(async () => {
    for (const connection of connections) await connection.close()
  })

  async function connect(): Promise<Store> {
    const connection = await place.connect()
    connections.push(connection)
    return connection
  }

  return {
    name,
    get store() {
      return store
    },
    get place() {
      return place
    },
    connect,
    story: (id, spec, ...happenings) => storyIn(store, id, spec, ...happenings),
    saves: (id, ...happenings) => savesIn(store, id, ...happenings),
    everything: (id) => everythingIn(store, id),
    start: (code) => startScript(`${HELPERS}const store = ${place.elsewhere}\n${code}`),
  }
}

const HELPERS = `const { step } = await import(${source('engine/step.ts')})
  const { works } = await import(${source('engine/stories.test-support.ts')})
  const save = async (lease: object) => {
    const loop = await store.load(lease.loop)
    const fact = works(loop)
    await store.save(lease, step(loop, fact), fact)
  }
`

export async function storyIn(store: Store, id: string, spec: Spec, ...happenings: Happening[]): Promise<Loop> {
  await store.create(loopOf(id, spec))
  return savesIn(store, id, ...happenings)
}

async function savesIn(store: Store, id: string, ...happenings: Happening[]): Promise<Loop> {
  const lease = granted(await store.lease(id))
  let loop = await store.load(id)
  for (const happening of happenings) {
    const moved = move(loop, happening)
    loop = moved.loop
    await store.save(lease, loop, moved.fact)
  }
  await lease.release()
  return loop
}

async function everythingIn(store: Store, id: string): Promise<Everything> {
  return {
    loop: await store.load(id),
    row: (await store.list()).rows.find((row) => row.id === id),
    events: await store.events(0, id),
    iterations: await store.iterations(id),
    told: { ...(await store.nextOrder(id)), at: 0 },
  }
}

export const PROMPT_OF_ALL_KINDS: string = `---\nname: "x"\n---\n'quotes' "too" \\ $(touch x) \`id\` 🦉 \u2028 \u0000 \r\n\ttab; DROP TABLE loop; --`

export const WORK: ReturnType<typeof specOf>['work'] = specOf().work

export const ORDERS: Order[] = [
  { kind: 'cancel' },
  { kind: 'pause' },
  { kind: 'resume' },
  { kind: 'say', words: PROMPT_OF_ALL_KINDS },
  { kind: 'limits', limits: { iterations: 3, costUsd: 1.5 } },
]

export const ANYTHING: Happening[] = [
  ...[works, idles, claims('clear'), claims('weak'), crashes(), isLimited, wantsPerson()],
  ...[checks('pass'), checks('fail', 2), woke, lost, pause, resume, say('hello')],
]

export function loopOf(id: string, spec: Spec = {}, minute = 0): Loop {
  return startLoop(id, specOf(spec), { at: START + minute * MINUTE, tree: 'tree 0' })
}

export function move(loop: Loop, happening: Happening): { loop: Loop; fact: Fact } {
  const fact = typeof happening === 'function' ? happening(loop) : happening
  return { loop: step(loop, fact), fact }
}

export function granted(answer: Lease | Held): Lease {
  if ('heldBy' in answer) throw new Error(`The lease is held by ${answer.heldBy}.`)
  return answer
}

export function idsOf({ rows }: { rows: readonly { id: string }[] }): string[] {
  return rows.map(({ id }) => id)
}

export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1)
}
