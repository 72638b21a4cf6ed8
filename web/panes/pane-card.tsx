/** One agent in its pane: its state, its loop, its queue, and its actions. */
import type { Badge } from '../badge.ts'
import { BadgeView, Button, Copy, Link } from '../parts/common.tsx'
import { ago, capital, count, folderName, money, timeOf } from '../words.ts'
import { type Crew, quoted } from './crew.ts'
import { actionsOf, dropTask } from './pane-actions.tsx'

export type Pane = Crew['agents'][number]

const STATES: Readonly<Record<Pane['state'], Omit<Badge, 'word'>>> = {
  READY: { tone: 'gray', mark: '○' },
  WORKING: { tone: 'blue', mark: '●', busy: true },
  BLOCKED: { tone: 'red', mark: '!' },
  WAITING: { tone: 'amber', mark: '◷' },
  'NEEDS YOU': { tone: 'amber', mark: '?' },
  DONE: { tone: 'green', mark: '✓' },
  STUCK: { tone: 'red', mark: '■' },
  STALLED: { tone: 'red', mark: '↯' },
}

export function stateBadge(state: Pane['state']): Badge {
  return { word: capital(state.toLowerCase()), ...STATES[state] }
}

export function PaneCard({ agent, config }: { agent: Pane; config: string }) {
  const { number, name, agent: program, dir, state, since, words, until, tells, restarts, queue, loop } = agent
  const attach = `ralph dispatch attach ${number} --config ${quoted(config)}`
  return (
    <article class="card pane">
      <header>
        <span class="pane-number">{number}</span>
        <h2>{name}</h2>
        <BadgeView badge={stateBadge(state)} />
        <small class="grow right">{since > 0 && ago(since)}</small>
      </header>
      <div class="body">
        <p class="pane-words">
          {words || (state === 'READY' ? 'Idle.' : '')}
          {state === 'BLOCKED' && ' Open its pane and answer.'}
          {until !== undefined && ` Continues at ${timeOf(until)}.`}
        </p>
        {loop && <LoopLine loop={loop} words={words} />}
        {queue.length > 0 && <Queue agent={agent} config={config} />}
        <small title={dir}>
          {program} · {folderName(dir)}
          {restarts > 0 && ` · restarted ${restarts === 1 ? 'once' : `${restarts} times`}`}
          {tells === 'screen' && ' · read from its screen'}
        </small>
      </div>
      <footer>
        {actionsOf(agent, config).map(({ words: text, kind, run }) => (
          <Button key={text} kind={kind ?? 'plain'} run={run} label={`${text.replace(' …', '')}: ${name}`}>
            {text}
          </Button>
        ))}
        <Copy text={attach} words="Copy attach command" />
      </footer>
    </article>
  )
}

function LoopLine({ loop, words }: { loop: NonNullable<Pane['loop']>; words: string }) {
  const { id, iteration, most, last, breaker, proof, costUsd, open } = loop
  return (
    <>
      <p class="number">
        <Link to={`/loops/${id}`}>{open ? 'Its loop' : 'Its last loop'}</Link>: iteration {iteration}
        {most > 0 && ` of ${most}`}
        {proof && ` · ${proof}`}
        {costUsd > 0 && ` · ${money(costUsd)}`}
        {breaker !== 'closed' && ` · breaker ${breaker}`}
      </p>
      {last !== words && <blockquote class="muted">{last}</blockquote>}
    </>
  )
}

function Queue({ agent, config }: { agent: Pane; config: string }) {
  return (
    <section class="queue" aria-label={`Queue of ${agent.name}`}>
      <h3>{count(agent.queue.length, 'task')} waiting</h3>
      <ol>
        {agent.queue.map(({ number, prompt }) => (
          <li key={number}>
            <span title={prompt}>{prompt}</span>
            <Button
              kind="quiet"
              label={`Drop task ${number} of ${agent.name}`}
              run={() => dropTask(agent, config, number)}
            >
              Drop
            </Button>
          </li>
        ))}
      </ol>
    </section>
  )
}
