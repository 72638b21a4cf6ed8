/** The coding agents on this machine, their abilities, and how their loops went: `ralph doctor` as a page. */
import { useEffect, useState } from 'preact/hooks'
import { chooseAgent } from '../../src/agents/choose.ts'
import { Abilities, AgentRow, type Executor } from '../agents/agent-row.tsx'
import { useQuery } from '../data/query.ts'
import { Button, Loading, Problem } from '../parts/common.tsx'

export function AgentsScreen() {
  const { value, error, refresh } = useQuery('list_executors', {})
  const past = useQuery('get_analytics', {}).value?.byAgent ?? []
  const executors = value?.executors ?? []
  const auto = autoOf(executors)
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Agents</h1>
        <Button run={refresh} title="After you install an agent or log in">
          Check again
        </Button>
      </header>
      {error && <Problem error={error} retry={refresh} />}
      {!value && !error && <Loading lines={8} />}
      {value && <Auto auto={auto} />}
      <ul class="agent-list">
        {executors.map((executor) => (
          <AgentRow
            key={executor.name}
            executor={executor}
            history={past.find(({ name }) => name === executor.name)}
            isAuto={executor.name === auto?.name}
          />
        ))}
      </ul>
      {value && <Abilities />}
      <Machine />
    </div>
  )
}

const LOGIN = { ready: 'yes', 'needs-login': 'no', unknown: 'unknown' } as const

/** As in a folder without any history. */
function autoOf(executors: readonly Executor[]): ReturnType<typeof chooseAgent> {
  return chooseAgent(
    executors.flatMap(({ name, state }) => (state === 'not-found' ? [] : [{ name, login: LOGIN[state] }])),
    new Map(),
  )
}

function Auto({ auto }: { auto: ReturnType<typeof autoOf> }) {
  if (!auto)
    return (
      <p class="callout amber">
        No agent can work yet. Install one of these and log in, or use your own program:{' '}
        <code>--agent command:"your-agent --its-flags"</code>
      </p>
    )
  return (
    <p class="callout blue">
      <strong>auto</strong> picks <strong>{auto.name}</strong>: {auto.why}. In a folder where loops have completed, it
      picks the agent that completed most of them.
    </p>
  )
}

function Machine() {
  const [version, setVersion] = useState('')
  useEffect(() => {
    void fetch('/healthz')
      .then((answer) => answer.json() as Promise<{ version: string }>)
      .then((health) => setVersion(health.version))
      .catch(() => {}) // the page says elsewhere that the server does not answer
  }, [])
  return (
    <p class="muted">
      This machine: ralph {version} at {location.origin}. <code>ralph doctor</code> also checks Node, git, tmux and the
      database.
    </p>
  )
}
