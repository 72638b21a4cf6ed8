/** The tools that ralph offers models, in the order in which every client lists them. */
import { lostByDeleting, lostByRollback, lostByStopping } from './mcp-confirm.ts'
import { diffView, iterationListView, iterationView } from './mcp-iteration-views.ts'
import { PARTS } from './mcp-resources.ts'
import { type Link, type McpTool, operationTool } from './mcp-tool.ts'
import { analyticsView, fleetTaskListView, loopListView, loopView, ordersView, taskListView } from './mcp-views.ts'

let made: readonly McpTool[] | undefined

/** Built on first use: schemas take a moment. */
export function allTools(): readonly McpTool[] {
  made ??= [
    operationTool('get_context'),
    operationTool('list_tasks', { view: taskListView }),
    operationTool('get_task', { tells: TASK, links: taskLinks }),
    operationTool('list_loops', { view: loopListView }),
    operationTool('get_loop', { asks: ['loop'], view: loopView, tells: LOOP, links: loopLinks }),
    operationTool('list_iterations', { asks: ['loop', 'after', 'limit'], view: iterationListView, links: loopLinks }),
    operationTool('get_iteration', { view: iterationView, links: iterationLinks }),
    operationTool('get_diff', { view: diffView, usual: { limit: 20_000 }, links: loopLinks }),
    operationTool('get_analytics', { view: analyticsView, tells: ANALYTICS }),
    operationTool('list_executors'),
    operationTool('create_task', { noNull: true, tells: TASK, links: taskLinks }),
    operationTool('update_task', { tells: TASK, links: taskLinks }),
    operationTool('delete_task', { loses: lostByDeleting }),
    operationTool('start_loop', { asks: START, links: loopLinks }),
    operationTool('wait_loop', { links: loopLinks }),
    operationTool('pause', { view: ordersView }),
    operationTool('resume', { links: loopLinks }),
    operationTool('cancel', { view: ordersView, loses: lostByStopping }),
    operationTool('steer', { links: loopLinks }),
    operationTool('rollback', { links: loopLinks, loses: lostByRollback }),
    operationTool('fork', { links: loopLinks }),
    operationTool('accept', { links: loopLinks }),
    operationTool('add_dependency', { tells: TASK, links: taskLinks }),
  ]
  return made
}

let madeForFleet: readonly McpTool[] | undefined

/** Only with a fleet: tools that a model cannot use must not cost it tokens. */
export function fleetTools(): readonly McpTool[] {
  madeForFleet ??= [
    operationTool('submit_tasks', { items: SUBMIT, links: submittedLinks }),
    operationTool('list_fleet_tasks', { view: fleetTaskListView }),
  ]
  return madeForFleet
}

/** The rest of its fields are rarely needed; docs/mcp.md has them. */
const START = [
  ...['task_id', 'prompt', 'dir', 'agent', 'checks', 'stages', 'limits', 'model', 'worktree'],
  ...['type', 'permissions', 'require', 'mayChange'],
]
const SUBMIT = [
  ...['id', 'title', 'prompt', 'repo', 'base', 'project', 'agent', 'checks', 'limits', 'require'],
  ...['depends_on', 'priority', 'labels', 'touches'],
]
const LOOP = ['id', 'status', 'sentence', 'proof', 'question', 'findings', 'unattended', 'iterations']
const ANALYTICS = ['loops', 'success', 'stops', 'iterations', 'cost', 'falseClaims', 'checks']
const TASK = ['id', 'title', 'status', 'loop_id', 'version']

function taskLinks(output: object): Link[] {
  const loop = 'loop_id' in output && output.loop_id !== null ? loopLinks({ loop: output.loop_id }) : []
  return 'id' in output ? [{ uri: `ralph://task/${output.id}`, name: `task ${output.id}` }, ...loop] : loop
}

function submittedLinks(output: object): Link[] {
  const { tasks } = output as { tasks: { loop_id: string }[] }
  return tasks.flatMap(({ loop_id }) => loopLinks({ loop: loop_id }))
}

/** Parts that are too long for a result. */
function iterationLinks(output: object): Link[] {
  const { loop, iteration } = output as { loop: string; iteration?: { n: number } }
  if (!iteration) return loopLinks(output)
  return PARTS.map((part) => ({
    uri: `ralph://loop/${loop}/iteration/${iteration.n}/${part}`,
    name: `${part} of iteration ${iteration.n}`,
  }))
}

function loopLinks(output: object): Link[] {
  const named = 'loop' in output ? output.loop : 'id' in output ? output.id : undefined
  return typeof named === 'string' ? [{ uri: `ralph://loop/${named}`, name: `loop ${named}` }] : []
}
