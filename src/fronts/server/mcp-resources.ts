/** ralph's data as resources: the board, its tasks, loops, and what is too long for a tool result. */
import {
  ProtocolError,
  ProtocolErrorCode,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
  type Server,
} from '@modelcontextprotocol/server'
import { isRalphError } from '../../error.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import { getDiff } from '../../operations/get-diff.ts'
import { getIteration } from '../../operations/get-iteration.ts'
import { getLoop } from '../../operations/get-loop.ts'
import { getTask } from '../../operations/get-task.ts'
import { getTranscript } from '../../operations/get-transcript.ts'
import { listLoops } from '../../operations/list-loops.ts'
import { listTasks } from '../../operations/list-tasks.ts'
import type { Context } from '../../operations/operation.ts'
import { loopListView, loopView, taskListView } from './mcp-views.ts'

export const BOARD = 'ralph://board'
export const PARTS = ['prompt', 'diff', 'verifier', 'transcript'] as const

const JSON_TYPE = 'application/json'
const MOST_LISTED = 50

const TEMPLATES: readonly (ResourceTemplateType & { mimeType: string })[] = [
  { name: 'task', uriTemplate: 'ralph://task/{id}', description: 'A task on the board.', mimeType: JSON_TYPE },
  { name: 'loop', uriTemplate: 'ralph://loop/{id}', description: 'A loop and its state.', mimeType: JSON_TYPE },
  ...[
    ['prompt', 'The prompt for the agent.', 'text/markdown'],
    ['diff', 'What the iteration changed.', 'text/x-diff'],
    ['verifier', 'What the checks printed.', JSON_TYPE],
    ['transcript', 'What the agent said and did.', 'text/plain'],
  ].map(([part = '', description = '', mimeType = '']) => ({
    name: part,
    uriTemplate: `ralph://loop/{id}/iteration/{n}/${part}`,
    description,
    mimeType,
  })),
]

export function offerResources(server: Server, context: Context): void {
  server.setRequestHandler('resources/list', async () => ({ resources: await listResources(context) }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...TEMPLATES] }))
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    try {
      const found = await readResource(context, uri)
      if (found) return { contents: [{ uri, ...found }] }
    } catch (cause) {
      if (isRalphError(cause)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, cause.message)
      context.note(String(cause instanceof Error ? cause.stack : cause))
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'This is a bug in ralph. Its log says more.')
    }
    throw new ResourceNotFoundError(uri)
  })
}

/** The newest; the templates name the rest. */
async function listResources(context: Context): Promise<Resource[]> {
  const { tasks } = await listTasks.run(context, { limit: MOST_LISTED })
  const { loops } = await listLoops.run(context, { limit: MOST_LISTED })
  return [
    { uri: BOARD, name: 'board', description: 'The tasks on the board, and the newest loops.', mimeType: JSON_TYPE },
    ...tasks.map(({ id, title, status }) => ({
      uri: `ralph://task/${id}`,
      name: `task ${id}`,
      description: `${title} (${status})`,
      mimeType: JSON_TYPE,
    })),
    ...loops.map(({ id, prompt, status }) => ({
      uri: `ralph://loop/${id}`,
      name: `loop ${id}`,
      description: `${cutTo(oneLine(prompt), 100)} (${status})`,
      mimeType: JSON_TYPE,
    })),
  ]
}

type Content = { mimeType: string; text: string }

const URI = /^ralph:\/\/(?:(?<kind>task|loop)\/(?<id>[^/]+)(?:\/iteration\/(?<n>\d{1,9})\/(?<part>\w+))?|board)$/

async function readResource(context: Context, uri: string): Promise<Content | undefined> {
  const found = URI.exec(uri)
  if (!found) return undefined
  const { kind, id = '', n, part } = found.groups ?? {}
  if (kind === undefined) return json(await readBoard(context))
  if (kind === 'task') return part === undefined ? json(await getTask.run(context, { task_id: id })) : undefined
  if (part === undefined) return json(loopView.of(await getLoop.run(context, { loop: id })))
  return isPart(part) ? PARTS_READ[part](context, { loop: id, iteration: Number(n) }) : undefined
}

async function readBoard(context: Context): Promise<object> {
  const tasks = await listTasks.run(context, { limit: MOST_LISTED })
  const loops = await listLoops.run(context, { limit: MOST_LISTED })
  return { ...taskListView.of(tasks), ...loopListView.of(loops) }
}

function isPart(name: string): name is (typeof PARTS)[number] {
  return PARTS.some((part) => part === name)
}

type Which = { loop: string; iteration: number }

const PARTS_READ: Readonly<Record<(typeof PARTS)[number], (context: Context, which: Which) => Promise<Content>>> = {
  async prompt(context, which) {
    return { mimeType: 'text/markdown', text: (await getIteration.run(context, which)).prompt ?? '' }
  },
  async diff(context, which) {
    return { mimeType: 'text/x-diff', text: (await getDiff.run(context, which)).text }
  },
  async verifier(context, which) {
    const { row } = await getIteration.run(context, which)
    return json({ checks: row?.verdicts ?? [], findings: row?.findings ?? [] })
  },
  async transcript(context, which) {
    return { mimeType: 'text/plain', text: await readSaid(context, which) }
  },
}

const MOST_SAID = 200_000

/** The end of what the agent printed, which says most, and how much was left out before it. */
async function readSaid(context: Context, which: Which): Promise<string> {
  let [said, leftOut] = ['', 0]
  for (let from = 0; ; ) {
    const { entries, next, over } = await getTranscript.run(context, { ...which, from })
    said += entries.map((entry) => ('out' in entry ? entry.out : 'err' in entry ? entry.err : '')).join('')
    leftOut += Math.max(0, said.length - MOST_SAID)
    said = said.slice(-MOST_SAID)
    if (next > from) {
      from = next
      continue
    }
    const before = leftOut > 0 ? `[${leftOut} characters left out]\n` : ''
    return `${before}${said.toWellFormed()}${over ? '' : `\n[${next} bytes so far]`}`
  }
}

function json(value: object): Content {
  return { mimeType: JSON_TYPE, text: JSON.stringify(value) }
}
