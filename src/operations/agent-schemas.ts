/** Schemas of the operations on agents in panes. */
import * as z from 'zod'
import { STATES } from '../dispatch/crew.ts'
import { GRADES } from '../engine/loop.ts'
import { argument, name, path, type SchemasOf, whole } from './schema-parts.ts'

const config = path
  .exactOptional()
  .describe('Config file of the dispatcher. Default: config.yaml in the current folder, or the only one known.')
const agent = name.describe('Number or name of an agent.')
const oneAgent = z.strictObject({ config, agent })

const text = z.string()
const state = z.enum(STATES)
const time = z.number().describe('Milliseconds since 1970.')

const loop = z.strictObject({
  id: text,
  iteration: whole,
  most: whole.describe('0: no limit.'),
  last: text,
  breaker: z.enum(['closed', 'half-open', 'open']),
  proof: z.enum(GRADES).exactOptional(),
  costUsd: z.number(),
  tokens: z.number(),
  startedAt: time,
  open: z.boolean(),
})

const listed = z.strictObject({
  number: whole,
  name: text,
  agent: text,
  dir: text,
  state,
  since: time,
  words: text,
  until: time.exactOptional().describe('When it resumes by itself.'),
  tells: z.enum(['hook', 'screen']),
  restarts: whole,
  queue: z.array(z.strictObject({ number: whole, prompt: text })),
  loop: loop.exactOptional(),
})

const change = z.strictObject({
  seq: whole,
  at: time,
  agent: text,
  state,
  words: text,
  until: time.exactOptional(),
  loop: text.exactOptional(),
  iteration: whole.exactOptional(),
})

const running = z.boolean().describe('Whether a dispatcher is running. If not, this happens when one starts.')
const left = z.strictObject({ agent: text, running })

type AgentOperation =
  | 'list_agents'
  | 'list_changes'
  | 'give_task'
  | 'drop_task'
  | 'see_agent'
  | 'retry_agent'
  | 'add_agent'
  | 'remove_agent'
  | 'set_limits'

export const AGENT_SCHEMAS: SchemasOf<AgentOperation> = {
  list_agents: {
    input: z.strictObject({ config, agents: z.array(agent).exactOptional().describe('Default: all of them.') }),
    output: z.strictObject({ config: text, running, agents: z.array(listed) }),
  },
  list_changes: {
    input: z.strictObject({ config, after: whole.exactOptional() }),
    output: z.strictObject({ changes: z.array(change) }),
  },
  give_task: {
    input: oneAgent.extend({ prompt: argument.min(1).regex(/\S/, 'must say what to do') }),
    output: left.extend({ ahead: whole.describe('How many tasks come first.') }),
  },
  drop_task: {
    input: oneAgent.extend({ task: whole.min(1).describe('Position in the queue.') }),
    output: z.strictObject({ agent: text, prompt: text }),
  },
  see_agent: { input: oneAgent, output: left },
  retry_agent: { input: oneAgent, output: left },
  add_agent: {
    input: z.strictObject({
      config,
      name,
      agent: argument.min(1).exactOptional().describe('A name, or command:"program and arguments".'),
      dir: path.exactOptional().describe('Default: folder of the config file.'),
      worktree: z.boolean().exactOptional(),
      model: argument.min(1).exactOptional(),
      checks: z.array(argument.min(1)).exactOptional(),
      permissions: z.enum(['ask', 'bypass']).exactOptional(),
    }),
    output: left,
  },
  remove_agent: { input: oneAgent, output: left },
  set_limits: {
    input: z.strictObject({
      loop: name.describe('An id or its prefix, or the name of a project in this folder.'),
      iterations: whole.describe('0: no limit.'),
    }),
    output: z.strictObject({ loop: text, iterations: whole }),
  },
}
