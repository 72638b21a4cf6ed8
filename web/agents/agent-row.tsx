/** One agent: whether it is ready, its version, its abilities, and how its loops went. */
import type { Badge } from '../badge.ts'
import { addressOf } from '../data/route.ts'
import type { OutputOf } from '../data/source.ts'
import { BadgeView, Code, Link } from '../parts/common.tsx'
import { count, folderName, money, percent } from '../words.ts'

export type Executor = OutputOf<'list_executors'>['executors'][number]
type History = OutputOf<'get_analytics'>['byAgent'][number]

const STATES: Readonly<Record<Executor['state'], Badge>> = {
  ready: { word: 'Ready', tone: 'green', mark: '✓' },
  'needs-login': { word: 'Needs login', tone: 'amber', mark: '!' },
  unknown: { word: 'Login unknown', tone: 'gray', mark: '?' },
  'not-found': { word: 'Not found', tone: 'gray', mark: '–' },
}

export function AgentRow({
  executor,
  history,
  isAuto,
}: {
  executor: Executor
  history: History | undefined
  isAuto: boolean
}) {
  const { name, state, path, can, install } = executor
  return (
    <li class="card agent-row">
      <div class="agent-name">
        <h2>{name}</h2>
        <BadgeView badge={STATES[state]} />
        {isAuto && <BadgeView badge={{ word: 'auto', tone: 'blue', mark: '→' }} />}
      </div>
      <div>
        {state === 'not-found' ? (
          <Code>{`npm install -g ${install}`}</Code>
        ) : (
          <>
            <p>{versionWords(executor)}</p>
            <p class="mono muted path">{path}</p>
          </>
        )}
        {state === 'needs-login' && (
          <p>
            Not logged in. Start it once and log in: <Code>{folderName(path ?? name)}</Code>
          </p>
        )}
        {state === 'unknown' && <p class="muted">ralph cannot tell whether it is logged in until it runs.</p>}
      </div>
      <ul class="chips" aria-label={`What ${name} can do`}>
        {can.map((what) => (
          <li key={what}>{ABILITIES[what]?.[0] ?? what}</li>
        ))}
      </ul>
      <div class="agent-past number">
        {history ? <Past history={history} /> : <span class="muted">No loops yet</span>}
      </div>
    </li>
  )
}

function Past({ history: { name, loops, success, costUsd } }: { history: History }) {
  return (
    <>
      <Link to={addressOf('/analytics', { since: 'all', agent: name ?? '' })}>{count(loops, 'loop')}</Link>
      <span>{percent(success.rate)} completed</span>
      <span class="muted">{costUsd > 0 ? `${money(costUsd)} spent` : 'cost not reported'}</span>
    </>
  )
}

function versionWords({ version, tested }: Executor): string {
  if (version === undefined) return 'Version unknown'
  if (version === tested) return `${version}, the version ralph was tested with`
  const isNewer = version.localeCompare(tested, 'en', { numeric: true }) > 0
  return `${version}, ${isNewer ? 'newer' : 'older'} than the tested ${tested}`
}

const ABILITIES: Readonly<Record<string, readonly [word: string, meaning: string]>> = {
  model: ['model', 'Lets you choose the model (--model).'],
  permissions: ['permissions', 'Can ask before it acts (--permissions ask).'],
  context: ['one session', 'Can keep its conversation across iterations (--context same).'],
  mcp: ['MCP', 'Can report stages, questions and obstacles through MCP tools (--mcp).'],
  tokens: ['tokens', 'Reports its tokens, so token limits work.'],
  cost: ['cost', 'Reports its cost, so cost limits work.'],
}

export function Abilities() {
  return (
    <details class="abilities">
      <summary>What agents can do</summary>
      <dl>
        {Object.values(ABILITIES).map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        Any other program works, too: <code>--agent command:"program with arguments"</code>, or{' '}
        <code>--agent acp:"program"</code> for one that speaks the Agent Client Protocol.
      </p>
    </details>
  )
}
