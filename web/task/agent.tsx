/** The agents for a task, in order, and their state on this machine. */
import { chooseAgent } from '../../src/agents/choose.ts'
import { useQuery } from '../data/query.ts'
import { useSettled } from '../data/settled.ts'
import type { OutputOf } from '../data/source.ts'
import { Button, Code } from '../parts/common.tsx'
import { Field, type Form, marks } from './form.tsx'

type Executor = OutputOf<'list_executors'>['executors'][number]

const STATES: Readonly<Record<Executor['state'], string>> = {
  ready: 'ready',
  'needs-login': 'needs login',
  unknown: 'installed',
  'not-found': 'not found',
}

const OTHER = 'command:'

export function AgentField({ form, dir }: { form: Form; dir: string }) {
  const known = useQuery('list_executors', {}).value?.executors
  const { agents } = form.draft
  const isAuto = agents[0] === 'auto'
  const change = (at: number, ...to: string[]) => form.set({ agents: agents.toSpliced(at, 1, ...to) })
  const unused = known?.find(({ name, state }) => state !== 'not-found' && !agents.includes(name))?.name ?? OTHER
  return (
    <Field form={form} field="agent" label="Agent">
      {agents.map((agent, at) => (
        <div key={at} class="line">
          <AgentChoice form={form} at={at} known={known} pick={(name) => change(at, name)} />
          {agents.length > 1 && (
            <Button kind="quiet" label={`Remove ${agent}`} run={() => change(at)}>
              ×
            </Button>
          )}
        </div>
      ))}
      {isAuto ? <AutoNote known={known} dir={dir} /> : <Advice known={known} agents={agents} />}
      {!isAuto && (
        <div class="line">
          <Button kind="quiet" run={() => form.set({ agents: [...agents, unused] })}>
            + Another agent
          </Button>
          {agents.length > 1 && <small>The next takes over while one is rate-limited.</small>}
        </div>
      )}
    </Field>
  )
}

type Choice = { form: Form; at: number; known: readonly Executor[] | undefined; pick(name: string): void }

function AgentChoice({ form, at, known, pick }: Choice) {
  const agent = form.draft.agents[at] ?? ''
  const isNamed = agent === 'auto' || !known || known.some(({ name }) => name === agent.trim())
  const about = at === 0 ? marks(form, 'agent') : { 'aria-label': `Agent ${at + 1}` }
  return (
    <>
      <select {...about} value={isNamed ? agent : OTHER} onChange={({ currentTarget }) => pick(currentTarget.value)}>
        {at === 0 && <option value="auto">Auto: whichever is ready</option>}
        {!known && agent !== 'auto' && <option value={agent}>{agent}</option>}
        {known?.map(({ name, version = '', state }) => (
          <option key={name} value={name}>
            {`${name} ${version} · ${STATES[state]}`}
          </option>
        ))}
        <option value={OTHER}>Another program …</option>
      </select>
      {!isNamed && (
        <input
          class="mono"
          aria-label="Program and arguments"
          placeholder="command:./my-agent --flag"
          value={agent}
          onInput={({ currentTarget }) => pick(currentTarget.value)}
        />
      )}
    </>
  )
}

/** The choice the server would make at the start of the task, from the same facts. */
function AutoNote({ known, dir }: { known: readonly Executor[] | undefined; dir: string }) {
  const settled = useSettled(dir)
  const past = useQuery('get_analytics', settled ? { dir: settled } : undefined).value?.byAgent
  if (!known || !past) return <small>…</small>
  const found = known.flatMap(({ name, state }) => (state === 'not-found' ? [] : [{ name, login: LOGINS[state] }]))
  const finished = new Map(past.flatMap(({ name, success }) => (name && success.count ? [[name, success.count]] : [])))
  const chosen = chooseAgent(found, finished)
  if (!chosen)
    return (
      <small class="error">
        No agent is ready. Install one, log in, or choose “Another program”. <code>ralph doctor</code> says more.
      </small>
    )
  return (
    <small>
      Takes <b>{chosen.name}</b>: {chosen.why}.
    </small>
  )
}

const LOGINS = { ready: 'yes', 'needs-login': 'no', unknown: 'unknown' } as const

function Advice({ known = [], agents }: { known: readonly Executor[] | undefined; agents: readonly string[] }) {
  const unready = known.filter(({ name, state }) => agents.includes(name) && /^n/.test(state))
  return (
    <>
      {unready.map(({ name, state, install }) => (
        <small key={name} class="warn">
          {state === 'not-found' ? (
            <>
              {name} is not installed. <Code>{`npm install -g ${install}`}</Code>
            </>
          ) : (
            `${name} needs a login: start it once in a terminal.`
          )}
        </small>
      ))}
    </>
  )
}
