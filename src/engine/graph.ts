/** The task graph: which tasks can be worked on now, and what is wrong with a list of tasks. */

export type GraphTask = { id: string; dependsOn: readonly string[]; status: 'open' | 'blocked' | 'completed' }

/** Open tasks whose dependencies are all completed, in the order of the list. */
export function readyTasks<Task extends GraphTask>(tasks: readonly Task[]): Task[] {
  const completed = new Set(tasks.filter(({ status }) => status === 'completed').map(({ id }) => id))
  return tasks.filter(({ status, dependsOn }) => status === 'open' && dependsOn.every((id) => completed.has(id)))
}

/** One sentence that names the ids, or nothing when the graph is sound. */
export function graphProblem(tasks: readonly GraphTask[]): string | undefined {
  const ids = new Set<string>()
  for (const { id } of tasks) {
    if (ids.has(id)) return `two tasks have the id "${id}". Give each its own.`
    ids.add(id)
  }
  for (const { id, dependsOn } of tasks) {
    const unknown = dependsOn.find((other) => !ids.has(other))
    if (unknown !== undefined)
      return `task ${id} depends on "${unknown}", which is not in the list (${shortList([...ids])}). Fix the id, or remove the dependency.`
  }
  const cycle = findCycle(tasks)
  return cycle && `these tasks wait for each other: ${shortList(cycle, ' → ')}. Remove one of the dependencies.`
}

function shortList(ids: readonly string[], between = ', '): string {
  return ids.length > 20 ? [...ids.slice(0, 18), '…', ids.at(-1)].join(between) : ids.join(between)
}

// Without recursion, so that a chain of any length fits.
function findCycle(tasks: readonly GraphTask[]): string[] | undefined {
  const dependsOn = new Map(tasks.map((task) => [task.id, task.dependsOn]))
  const finished = new Set<string>()
  for (const { id } of tasks) {
    const path = [id]
    const untried = [[...(dependsOn.get(id) ?? [])]]
    const onPath = new Set(path)
    while (path.length > 0) {
      const next = untried.at(-1)?.shift()
      if (next === undefined) {
        untried.pop()
        const done = path.pop() ?? ''
        onPath.delete(done)
        finished.add(done)
      } else if (onPath.has(next)) return [...path.slice(path.indexOf(next)), next]
      else if (!finished.has(next)) {
        path.push(next)
        onPath.add(next)
        untried.push([...(dependsOn.get(next) ?? [])])
      }
    }
  }
  return undefined
}
