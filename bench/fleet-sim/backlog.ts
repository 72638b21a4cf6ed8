/** The waiting tasks: a backlog with only its front in memory, and what arrives meanwhile. */
import type { Timeline } from './timeline.ts'
import { BACKLOG, newTask, type SimTask, SUBMITTERS, taskMs, type World } from './workload.ts'

export type Backlog = {
  /** What a pass looks at: the first tasks of each submitter. */
  candidates(): SimTask[]
  take(id: string): SimTask
  finish(id: string): void
}

type Heap = { name: string; tasks: Map<string, SimTask>; recent: string[]; made: number }

type Settings = { world: World; timeline: Timeline; slots: number; tasks: number; candidates: number }

const RECENT = 10

export function openBacklog(settings: Settings, onSubmit: (tasks: number) => void): Backlog {
  const { world, timeline, slots, tasks: backlog, candidates } = settings
  const heaps = new Map([BACKLOG, ...SUBMITTERS.map(({ name }) => name)].map((name) => [name, newHeap(name)]))
  const dependents = new Map<string, SimTask[]>()
  const unfinished = new Map<string, Heap>()
  const add = (heap: Heap) => {
    const before = heap.recent.filter((id) => unfinished.has(id))
    const task = newTask(`${heap.name}-${heap.made++}`, heap.name, timeline.now(), before, world)
    heap.tasks.set(task.id, task)
    unfinished.set(task.id, heap)
    heap.recent = [...heap.recent.slice(1 - RECENT), task.id]
    for (const id of task.dependsOn) dependents.set(id, [...(dependents.get(id) ?? []), task])
  }
  const most = Math.ceil(candidates / heaps.size)
  const refill = () => {
    const heap = heaps.get(BACKLOG)
    while (heap && heap.tasks.size < candidates - most && heap.made < backlog) add(heap)
  }
  refill()
  for (const { name, load, batch } of SUBMITTERS) {
    const heap = heaps.get(name)
    if (!heap || world.pace.turn === 0) continue // to find the limit, no others are needed
    const everyMs = (batch * taskMs(world.pace)) / (load * slots)
    const arrive = () => {
      for (let one = 0; one < batch; one++) add(heap)
      onSubmit(batch)
      timeline.after(world.chance.exponential(everyMs), arrive)
    }
    timeline.after(world.chance.exponential(everyMs), arrive)
  }
  return {
    candidates: () =>
      [...heaps.values()].flatMap(({ name, tasks }) => first(tasks, name === BACKLOG ? candidates : most)),
    take(id) {
      const heap = unfinished.get(id)
      const task = heap?.tasks.get(id)
      if (!task) throw new Error(`${id} is not waiting.`)
      heap?.tasks.delete(id)
      refill()
      return task
    },
    finish(id) {
      unfinished.delete(id)
      for (const task of dependents.get(id) ?? []) {
        task.dependsOn = task.dependsOn.filter((other) => other !== id)
        task.readyAt = timeline.now()
      }
      dependents.delete(id)
    },
  }
}

function newHeap(name: string): Heap {
  return { name, tasks: new Map(), recent: [], made: 0 }
}

function first(tasks: ReadonlyMap<string, SimTask>, most: number): SimTask[] {
  return tasks.size <= most ? [...tasks.values()] : [...tasks.values()].slice(0, most)
}
