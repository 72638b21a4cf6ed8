/** The tasks of a project as a Mermaid flowchart. */
import { readyTasks } from '../engine/graph.ts'
import { cutTo, oneLine } from './one-line.ts'
import { graphTask, type Task } from './tasks.ts'

/** Dependencies point at the tasks that wait for them; the color shows the status. */
export function printGraph(tasks: readonly Task[]): string {
  const names = new Map(tasks.map(({ id }, index) => [id, `n${index}`]))
  const ready = new Set(readyTasks(tasks.map(graphTask)).map(({ id }) => id))
  const nodes = tasks.map((task) => `${names.get(task.id)}["${label(task)}"]:::${standing(task, ready)}`)
  const edges = tasks.flatMap(({ id, dependencies }) =>
    [...new Set(dependencies)].flatMap((before) =>
      names.has(before) ? [`${names.get(before)} --> ${names.get(id)}`] : [],
    ),
  )
  return `flowchart LR\n${[...nodes, ...edges, ...CLASSES].map((line) => `  ${line}\n`).join('')}`
}

type Standing = 'completed' | 'in_progress' | 'ready' | 'waiting' | 'blocked'

function standing(task: Task, ready: ReadonlySet<string>): Standing {
  const { status } = graphTask(task)
  if (status !== 'open') return status
  if (task.status === 'in_progress') return 'in_progress'
  return ready.has(task.id) ? 'ready' : 'waiting'
}

// Dark text on light fills is readable on light and dark pages.
const COLOURS: Readonly<Record<Standing, string>> = {
  completed: 'fill:#d7f0dd,stroke:#2e7d46,color:#123d20',
  in_progress: 'fill:#d9e8fb,stroke:#2b62a8,color:#10315c',
  ready: 'fill:#ffffff,stroke:#444444,color:#222222',
  waiting: 'fill:#eeeeee,stroke:#999999,color:#555555,stroke-dasharray:4 3',
  blocked: 'fill:#fbdcd9,stroke:#b3372b,color:#5c1811',
}

const CLASSES = Object.entries(COLOURS).map(([name, style]) => `classDef ${name} ${style}`)

const LONGEST_LABEL = 60

/** Anything Mermaid could read as syntax, Markdown or HTML is written as a character code. */
function label({ id, title }: Task): string {
  return cutTo(oneLine(`${id}: ${title}`), LONGEST_LABEL).replace(/[!-~]/g, (letter) =>
    /[A-Za-z0-9.,:?!'/-]/.test(letter) ? letter : `#${letter.codePointAt(0)};`,
  )
}
