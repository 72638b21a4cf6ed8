/** The prompt of the iteration, and how it differs from the one before. */

import { useQuery } from '../data/query.ts'
import { go, route, withQuery } from '../data/route.ts'
import { Copy, Loading, Problem } from '../parts/common.tsx'

export function PromptTab({ loop, n }: { loop: string; n: number }) {
  const { value, error, refresh } = useQuery('get_iteration', { loop, iteration: n })
  if (error && !value) return <Problem error={error} retry={refresh} />
  if (!value) return <Loading />
  const { prompt, promptChange, command } = value
  if (prompt === undefined) return <p class="muted body">The prompt was removed with old transcripts.</p>
  const isWhole = route.value.query.prompt === 'whole' || !promptChange
  return (
    <div class="prompt">
      <p class="row">
        <span class="grow muted">
          {isWhole
            ? `Full prompt, ${prompt.length.toLocaleString('en')} characters`
            : `What changed since iteration ${n - 1}`}
        </span>
        {promptChange && (
          <button
            type="button"
            class="button quiet"
            onClick={() => go(withQuery({ prompt: isWhole ? undefined : 'whole' }), { replace: true })}
          >
            {isWhole ? 'Show what changed' : 'Show full prompt'}
          </button>
        )}
        <Copy text={prompt} />
      </p>
      {isWhole ? (
        <pre class="output" dir="auto" tabIndex={0}>
          {prompt}
        </pre>
      ) : (
        <pre class="output change" tabIndex={0}>
          {promptChange.split('\n').map((line, at) => (
            <span key={at} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
      {command && (
        <details>
          <summary>Command line</summary>
          <pre class="output">{command.join(' ')}</pre>
        </details>
      )}
    </div>
  )
}
