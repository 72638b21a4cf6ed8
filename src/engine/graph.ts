/** The task graph: which tasks are ready, which matter most, what is stuck, what is wrong with a list. */

export type GraphTask = {
  id: string
  dependsOn: readonly string[]
  status: 'open' | 'blocked' | 'completed'
  /** Estimated duration, in any unit. Absent: 1, like any other. */
  size?: number
}

/** Open tasks whose dependencies are all completed, in list order. */
export function readyTasks<Task extends GraphTask>(tasks: readonly Task[]): Task[] {
  const completed = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
  return tasks.filter(({ status, dependsOn }) => status === 'open' && dependsOn.every((id) => completed.has(id)))
}

/** One sentence that names the ids, or undefined if the graph is sound. */
export function graphProblem(tasks: readonly GraphTask[]): string | undefined {
  const ids = new Set<string>()
  for (const { id } of tasks) {
    if (ids.has(id)) return `two tasks have the id "${id}". Give each task its own id.`
    ids.add(id)
  }
  for (const { id, dependsOn } of tasks) {
    const unknown = dependsOn.find((other) => !ids.has(other))
    if (unknown !== undefined)
      return `task ${id} depends on "${unknown}", which is not in the list (${shortList([...ids])}). Fix the id, or remove the dependency.`
  }
  if (lastFirst(waitsFor(tasks)).length === tasks.length) return undefined
  const cycle = findCycle(tasks)
  return cycle && `these tasks form a dependency cycle: ${shortList(cycle, ' → ')}. Remove one of the dependencies.`
}

function shortList(ids: readonly string[], between = ', '): string {
  return ids.length > 20 ? [...ids.slice(0, 18), '…', ids.at(-1)].join(between) : ids.join(between)
}

// Without recursion, so that a chain can have any length.
function findCycle(tasks: readonly GraphTask[]): string[] | undefined {
  const dependsOn = new Map(tasks.map((task) => [task.id, task.dependsOn]))
  const finished = new Set<string>()
  for (const { id } of tasks) {
    const path = finished.has(id) ? [] : [id]
    const onPath = new Set(path)
    const tried = [0] // how many dependencies of each task on the path have been followed
    while (path.length > 0) {
      const last = path.length - 1
      const here = path[last] ?? ''
      const at = tried[last] ?? 0
      const next = dependsOn.get(here)?.[at]
      tried[last] = at + 1
      if (next === undefined) {
        path.pop()
        tried.pop()
        onPath.delete(here)
        finished.add(here)
      } else if (onPath.has(next)) return [...path.slice(path.indexOf(next)), next]
      else if (!finished.has(next)) {
        path.push(next)
        tried.push(0)
        onPath.add(next)
      }
    }
  }
  return undefined
}

/**
 * For every unfinished task: the length of the longest chain of unfinished tasks that wait for it, itself included.
 * Starting with the highest number finishes first.
 */
export function criticalPath(tasks: readonly GraphTask[]): Map<string, number> {
  const open = tasks.filter(({ status }) => status !== 'completed')
  const before = waitsFor(open)
  const lengths = open.map(({ size = 1 }) => size)
  for (const place of lastFirst(before))
    for (const other of before[place] ?? [])
      lengths[other] = Math.max(lengths[other] ?? 0, (lengths[place] ?? 0) + (open[other]?.size ?? 1))
  return new Map(open.map(({ id }, place) => [id, lengths[place] ?? 0]))
}

/** What each task waits for, by index: numbers are looked up much faster than names. */
function waitsFor(tasks: readonly GraphTask[]): number[][] {
  const places = new Map(tasks.map(({ id }, place) => [id, place]))
  return tasks.map(({ dependsOn }) => dependsOn.map((id) => places.get(id) ?? -1).filter((place) => place >= 0))
}

/**
 * The indices, ordered so that a task comes after everything that waits for it. Tasks in a cycle, or before one, are
 * missing.
 */
function lastFirst(before: readonly (readonly number[])[]): number[] {
  const waiting = new Uint32Array(before.length)
  for (const list of before) for (const place of list) waiting[place] = (waiting[place] ?? 0) + 1
  const order: number[] = []
  for (let place = 0; place < before.length; place++) if (waiting[place] === 0) order.push(place)
  for (const place of order)
    for (const other of before[place] ?? []) {
      const left = (waiting[other] ?? 0) - 1
      waiting[other] = left
      if (left === 0) order.push(other)
    }
  return order
}

const MOST_REASONS = 10

/** Parts of a sentence about what cannot continue without a person: blocked tasks, and open ones that wait for them. */
export function whyStuck(tasks: readonly GraphTask[]): string[] {
  const waiting = new Map<string, string[]>()
  for (const { id, status, dependsOn } of tasks) {
    if (status !== 'open') continue
    for (const before of dependsOn) {
      const others = waiting.get(before)
      if (others) others.push(id)
      else waiting.set(before, [id])
    }
  }
  const blocked = tasks.filter(({ status }) => status === 'blocked').map(({ id }) => id)
  const causes = new Map(blocked.map((id) => [id, id]))
  for (const [id, cause] of causes)
    for (const stuck of waiting.get(id) ?? []) if (!causes.has(stuck)) causes.set(stuck, cause)
  const reasons = tasks.flatMap(({ id }) => {
    const cause = causes.get(id)
    if (cause === undefined) return []
    return [cause === id ? `${id} is blocked` : `${id} depends on ${cause}, which is blocked`]
  })
  const more = reasons.length - MOST_REASONS
  return more > 0 ? [...reasons.slice(0, MOST_REASONS), `and ${more} more`] : reasons
}
