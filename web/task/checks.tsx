/** What proves a task done: checks, stages with their own checks, and their current results. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { call, type OutputOf } from '../data/source.ts'
import { Button } from '../parts/common.tsx'
import { count, duration } from '../words.ts'
import { Field, type Form, marks, Wrong } from './form.tsx'

export function ChecksField({ form, dir }: { form: Form; dir: string }) {
  const { checks } = form.draft
  const change = (at: number, ...to: string[]) => form.set({ checks: checks.toSpliced(at, 1, ...to) })
  return (
    <>
      <Field
        form={form}
        field="checks"
        label="Checks: what must pass before it counts as done"
        hint={
          <>
            Commands, run by ralph itself. <code>auto</code> finds the project’s own. Without a check, done is only the
            agent’s word.
          </>
        }
      >
        {checks.map((check, at) => (
          <div key={at} class="line">
            <input
              {...(at === 0 ? marks(form, 'checks', true) : { 'aria-label': `Check ${at + 1}` })}
              class="mono"
              placeholder={at === 0 ? 'npm test' : ''}
              value={check}
              spellcheck={false}
              onInput={({ currentTarget }) => change(at, currentTarget.value)}
            />
            {checks.length > 1 && (
              <Button kind="quiet" label={`Remove check ${at + 1}`} run={() => change(at)}>
                ×
              </Button>
            )}
          </div>
        ))}
      </Field>
      <TryChecks form={form} dir={dir}>
        <Button kind="quiet" run={() => form.set({ checks: [...checks, ''] })}>
          + Check
        </Button>
        {checks.join('') === '' && (
          <Button kind="quiet" run={() => form.set({ checks: ['auto'] })}>
            Use auto
          </Button>
        )}
      </TryChecks>
    </>
  )
}

type Ran = OutputOf<'try_checks'>['ran'][number]

const MEANINGS: Readonly<Record<Ran['result'], { mark: string; tone: string; words: string }>> = {
  fail: { mark: '✗', tone: 'red', words: 'fails now: passing it proves the work' },
  pass: { mark: '✓', tone: 'teal', words: 'already passes: it can only show that nothing breaks' },
  broken: { mark: '!', tone: 'amber', words: 'cannot be run, so it proves nothing' },
  timeout: { mark: '◷', tone: 'amber', words: 'timed out' },
}

/** Before any work: a check that fails now is the most valuable. */
function TryChecks({ form, dir, children }: { form: Form; dir: string; children: ComponentChildren }) {
  const [tried, setTried] = useState<OutputOf<'try_checks'>>()
  const { checks, stages, use_ralph_wiggum } = form.draft
  const all = [...checks, ...(use_ralph_wiggum ? stages.map(({ check }) => check) : [])].filter((one) => one.trim())
  // Closing the dialog cancels them.
  const gone = useRef(new AbortController()).current
  useEffect(() => () => gone.abort(), [])
  const run = async () => setTried(await call('try_checks', { checks: all, dir }, { signal: gone.signal }))
  return (
    <div class="tried" aria-live="polite">
      <div class="line">
        {children}
        {all.length > 0 && <Button run={run}>Try the checks now</Button>}
      </div>
      {tried?.ran.map((one, at) => (
        <details key={at}>
          <summary>
            <span class={MEANINGS[one.result].tone} aria-hidden="true">
              {MEANINGS[one.result].mark}
            </span>
            <span>
              <code>{one.check}</code> {MEANINGS[one.result].words}
              {one.failures ? ` · ${count(one.failures, 'failure')}` : ''} · {duration(one.ms)}
            </span>
          </summary>
          <pre tabIndex={0}>{one.tail.trim() || 'It printed nothing.'}</pre>
        </details>
      ))}
      {tried && tried.ran.length === 0 && <p>No checks found in {tried.dir}.</p>}
    </div>
  )
}

export function StagesField({ form }: { form: Form }) {
  const { stages } = form.draft
  const change = (at: number, part: Partial<(typeof stages)[number]>) =>
    form.set({ stages: stages.map((stage, one) => (one === at ? { ...stage, ...part } : stage)) })
  const up = (at: number) =>
    form.set({ stages: stages.toSpliced(at, 1).toSpliced(at - 1, 0, ...stages.slice(at, at + 1)) })
  return (
    <fieldset class="stages">
      <legend>
        Stages <small>Named parts of done, in order; each is claimed and checked on its own.</small>
      </legend>
      {stages.map(({ name, check }, at) => (
        <div key={at} class="line">
          <span class="number muted">{at + 1}</span>
          <input
            {...marks(form, `stages[${at}].name`)}
            class="mono"
            aria-label={`Name of stage ${at + 1}`}
            placeholder="TESTS_PASS"
            value={name}
            onInput={({ currentTarget }) => change(at, { name: currentTarget.value })}
          />
          <input
            {...marks(form, `stages[${at}].check`)}
            class="mono"
            aria-label={`Check of stage ${at + 1}`}
            placeholder="npm test"
            value={check}
            onInput={({ currentTarget }) => change(at, { check: currentTarget.value })}
          />
          <Button kind="quiet" label={`Move stage ${at + 1} up`} disabled={at === 0} run={() => up(at)}>
            ↑
          </Button>
          <Button
            kind="quiet"
            label={`Remove stage ${at + 1}`}
            run={() => form.set({ stages: stages.toSpliced(at, 1) })}
          >
            ×
          </Button>
        </div>
      ))}
      <Wrong form={form} field="stages" />
      <Button kind="quiet" run={() => form.set({ stages: [...stages, { name: '', check: '' }] })}>
        + Stage
      </Button>
    </fieldset>
  )
}
