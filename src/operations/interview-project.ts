/** Agents interview the user about the spec of a project, then write the tasks. */
import type { AgentEvent } from '../agents/agent.ts'
import type { TaskList } from '../formats/tasks.ts'
import { openProject, type Project } from '../project/folder.ts'
import { blankSpec } from '../project/init.ts'
import { holdInterview, type Interview, mustBeReady } from '../project/interview.ts'
import { type Interviewer, talkInTerminal, workAlone } from '../project/interview-agent.ts'
import { lockProject, withoutPast } from '../project/lock.ts'
import { withAnswers } from '../prompt/interview-prompt.ts'
import { DEFAULTS } from '../request/defaults.ts'
import { given } from '../request/given.ts'
import type { LoopRequest } from '../request/request.ts'
import { chooseAgents, mustSuit } from './choose-agents.ts'
import { openConfig } from './open-config.ts'
import { type Context, selfIn } from './operation.ts'
import { workFolder } from './start-loop.ts'

export type Interviewing = Pick<LoopRequest, 'model' | 'permissions' | 'agentArgs'> & {
  project: string
  dir?: string
  agent?: string
  rounds: number
}

export type Listening = {
  /** What agents read if no one can be asked; undefined if the user answers in this terminal. */
  answers(): string | undefined
  begin(how: { project: Project; agent: string; permissions: 'bypass' | 'ask'; isBlank: boolean; why?: string }): void
  say(text: string): void
  /** Activity of an agent that works without a terminal. */
  saw(event: AgentEvent): void
  /** An agent that works without a terminal failed. */
  failed(words: string): void
  signal: AbortSignal
  /** The user stops the interview. */
  leave(): void
}

/** Undefined if it was stopped. */
export async function interviewProject(
  context: Context,
  asked: Interviewing,
  listening: Listening,
): Promise<{ project: Project; list: TaskList | undefined }> {
  const dir = workFolder(context, asked.dir)
  const project = openProject(dir, asked.project)
  const isBlank = mustBeReady(project).trim() === blankSpec(project.name).trim()
  const answers = listening.answers()
  const { agents, why } = await chooseAgents(context, {
    dir,
    config: await openConfig(context, dir),
    asked: asked.agent,
  })
  const [name = ''] = agents
  mustSuit([name], asked)
  const permissions = asked.permissions ?? DEFAULTS.permissions
  listening.begin({ project, agent: name, permissions, isBlank, ...given({ why }) })
  const { signal } = listening
  const { env, now, root } = context
  const settings = { permissions, ...(asked.model === undefined ? {} : { model: asked.model }) }
  const extraArgs = asked.agentArgs ?? []
  const interviewer = { ...settings, name, project, signal, self: selfIn(root), env, now, extraArgs }
  await withoutPast(project, context) // no agent has worked on these files
  const lock = lockProject(project)
  try {
    const ask = askingOf(interviewer, answers, listening)
    return { project, list: await holdInterview({ project, rounds: asked.rounds, say: listening.say, signal, ask }) }
  } finally {
    lock.release()
  }
}

function askingOf(interviewer: Interviewer, answers: string | undefined, listening: Listening): Interview['ask'] {
  if (answers === undefined)
    return async (prompt, at) => {
      if (await talkInTerminal(interviewer, prompt, at)) listening.leave()
    }
  return async (prompt, at) => {
    const wrong = await workAlone(interviewer, withAnswers(prompt, answers), at, listening.saw)
    if (wrong) listening.failed(wrong)
  }
}
