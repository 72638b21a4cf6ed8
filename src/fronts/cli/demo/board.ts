/** Fills the board of the demo with real loops of scripted agents, through the same operations that users call. */
import { join } from 'node:path'
import type { Step } from '../../../formats/script.ts'
import { writeWhole } from '../../../host/files.ts'
import { addDependency } from '../../../operations/add-dependency.ts'
import { createTask } from '../../../operations/create-task.ts'
import { setGroup } from '../../../operations/groups.ts'
import type { Context } from '../../../operations/operation.ts'
import { HISTORY } from './history.ts'
import { LIVE } from './live.ts'
import { openPast, type Past } from './past.ts'
import { makeRepository } from './repository.ts'
import { REVIEW } from './review.ts'
import { BILLING_TODAY } from './stories-billing.ts'
import { SHOP_TODAY } from './stories-shop.ts'
import { AGENTS, type AgentName, GROUPS, type GroupId, priced, type Story, type StoryName } from './story.ts'
import { type Placed, tell } from './tell.ts'
import { TODO } from './todo.ts'
import { WAITING } from './waiting.ts'

/** `quick`: skips the past. `stop`: skips the rest. `saw`: progress, in stories. */
export type Filling = { quick?: true; stop?: AbortSignal; saw?: (done: number, of: number) => void }

/** Ids by story name. */
export type Filled = { loops: Ids; tasks: Ids }
type Ids = Partial<Record<StoryName, string>>

const TODAY: readonly Story[] = [...SHOP_TODAY, ...BILLING_TODAY, REVIEW, ...WAITING, ...TODO, LIVE]

/** Creates the repositories and scripts in `folder`. The live story is queued, so that `ralph serve` runs it. */
export async function fillBoard(
  present: Context,
  folder: string,
  { quick, stop = new AbortController().signal, saw = () => {} }: Filling = {},
): Promise<Filled> {
  const stories = [...(quick ? [] : HISTORY), ...TODAY].sort((a, b) => b.hoursAgo - a.hoursAgo)
  const shownAt = present.now()
  const filled: Filled = { loops: {}, tasks: {} }
  let done = 0
  const repositories = await makeGroups(present, folder, shownAt)
  const placed = await putOnBoard(present, { folder, stories, shownAt })
  for (const { story, task_id } of placed) if (story.name) filled.tasks[story.name] = task_id
  // Two loops must not work in one folder at once, so each folder runs its stories in order.
  const lanes = GROUPS.map(async (group) => {
    const past = openPast(present, shownAt)
    try {
      const stage = { past, present, repository: repositories[group], stop }
      for (const one of placed.filter(({ story }) => story.group === group)) {
        if (stop.aborted) return
        const loop = await tell(stage, one)
        if (one.story.name && loop !== undefined) filled.loops[one.story.name] = loop
        saw(++done, stories.length)
      }
    } finally {
      await past.context.close()
    }
  })
  await Promise.all(lanes)
  return filled
}

const NAMES: Readonly<Record<GroupId, string>> = { shop: 'Shop', billing: 'Billing' }
const LONG_AGO_MS = 14 * 86_400_000

async function makeGroups(present: Context, folder: string, shownAt: number) {
  const make = async (group: GroupId) => {
    const repo = join(folder, group)
    const repository = await makeRepository(repo, group, shownAt - LONG_AGO_MS)
    await setGroup.run(present, { project_id: group, name: NAMES[group], repo })
    return repository
  }
  return { shop: await make('shop'), billing: await make('billing') }
}

type Placing = { folder: string; stories: readonly Story[]; shownAt: number }

/** A task is created half an hour before it starts. */
const EARLIER_HOURS = 0.5

async function putOnBoard(present: Context, { folder, stories, shownAt }: Placing): Promise<Placed[]> {
  const past = openPast(present, shownAt)
  const placed: Placed[] = []
  try {
    for (const story of stories) {
      past.goTo(story.hoursAgo + (story.fate === 'todo' ? 0 : EARLIER_HOURS))
      const agent = `scripted:${scriptOf(folder, story.agent)}`
      const { id: task_id } = await createTask.run(past.context, { ...story.task, project_id: story.group, agent })
      await dependOn(past, { story, task_id }, placed)
      placed.push({ story, task_id })
    }
  } finally {
    await past.context.close()
  }
  for (const agent of AGENTS) writeScript(folder, agent, placed)
  return placed
}

async function dependOn({ context }: Past, { story, task_id }: Placed, placed: readonly Placed[]): Promise<void> {
  const before = placed.find((one) => one.story.name !== undefined && one.story.name === story.after)
  if (before) await addDependency.run(context, { task_id, depends_on: before.task_id })
}

function scriptOf(folder: string, agent: AgentName): string {
  return join(folder, `${agent}.json`)
}

/** What a scripted agent says about a task it has no script for. */
const NOTHING: Step[] = [{ text: 'I am a scripted agent without a script for this task, so I change nothing.' }]

function writeScript(folder: string, agent: AgentName, placed: readonly Placed[]): void {
  const own = placed.filter(({ story }) => story.agent === agent)
  const tasks = Object.fromEntries(own.map(({ story, task_id }) => [task_id, priced(story.turns, agent)]))
  writeWhole(scriptOf(folder, agent), JSON.stringify({ turns: [NOTHING], tasks }))
}
