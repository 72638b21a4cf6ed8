/** The agents a dispatcher keeps in terminal panes: what each is doing, and its actions. */
import { RalphError } from '../../src/error.ts'
import { anyPane, useQuery } from '../data/query.ts'
import { addressOf, go, route } from '../data/route.ts'
import { addAgent } from '../panes/add-agent.tsx'
import { Changes } from '../panes/changes.tsx'
import { type Crew, quoted } from '../panes/crew.ts'
import { PaneCard } from '../panes/pane-card.tsx'
import { BadgeView, Button, Code, Empty, Loading, Problem } from '../parts/common.tsx'

export function PanesScreen() {
  const { config } = route.value.query
  const { value, error, refresh } = useQuery('list_agents', config ? { config } : {}, anyPane)
  const isMissing = error instanceof RalphError && error.code === 'pane-unknown'
  const crew = isMissing ? undefined : value
  return (
    <div class="screen">
      <header class="screen-head">
        <h1>Panes</h1>
        {crew?.running && <Button run={() => addAgent(crew.config)}>Add an agent …</Button>}
      </header>
      {error && !isMissing && <Problem error={error} retry={refresh} />}
      {!value && !error && <Loading lines={4} />}
      {isMissing && <NoCrew message={error.message} config={config ?? ''} />}
      {crew && <CrewView crew={crew} />}
    </div>
  )
}

function CrewView({ crew }: { crew: Crew }) {
  const { config, running, agents } = crew
  return (
    <>
      <div class="crew">
        <BadgeView
          badge={
            running
              ? { word: 'Dispatcher is running', tone: 'green', mark: '●' }
              : { word: 'No dispatcher is running', tone: 'amber', mark: '‖' }
          }
        />
        <span class="mono muted path">{config}</span>
        {running && (
          <p class="muted">
            Open a pane in a terminal with <code>ralph dispatch attach 1</code>; F12 leaves it, and the agent keeps
            running.
          </p>
        )}
        {!running && (
          <p>
            This is the state it left. Tasks that you add now start when you start it:{' '}
            <Code>{`ralph dispatch --config ${quoted(config)}`}</Code>
          </p>
        )}
      </div>
      <div class="panes">
        {agents.map((agent) => (
          <PaneCard key={agent.name} agent={agent} config={config} />
        ))}
      </div>
      <Changes config={config} />
    </>
  )
}

const CONFIG = `# config.yaml
agents:
  - name: api
    agent: claude
    folder: ../api
    checks: npm test
  - name: web
    agent: codex
    folder: ../web
    worktree: true
    checks: npm test`

/** There is none, or there are several: the server's message says which. */
function NoCrew({ message, config }: { message: string; config: string }) {
  return (
    <Empty title="Agents in terminal panes">
      <p class="path">{message}</p>
      <form
        class="choose"
        onSubmit={(event) => {
          event.preventDefault()
          go(addressOf('/panes', { config: String(new FormData(event.currentTarget).get('config') ?? '') }))
        }}
      >
        <label>
          Config file of the dispatcher
          <input
            name="config"
            class="mono"
            defaultValue={config}
            placeholder="/home/me/code/config.yaml"
            spellcheck={false}
          />
        </label>
        <Button type="submit">Open</Button>
      </form>
      <p>
        A dispatcher keeps several interactive agents open, each in its own terminal pane, and sends each one its task
        again until it is proven done. You can watch, type, and leave at any time. It needs tmux and a file like this:
      </p>
      <Code>{CONFIG}</Code>
      <p>Start it in the folder of that file:</p>
      <Code>ralph dispatch</Code>
    </Empty>
  )
}
