/** The collapsed part of the form: fields that are rarely set. */
import { BOARD_STATUSES } from '../../src/formats/board-task.ts'
import { capital, plain } from '../words.ts'
import { DependsField } from './depends.tsx'
import { LIMITS, type LimitName } from './draft.ts'
import { Field, type Form, marks, Switch, Text } from './form.tsx'

/** `self`: the task being edited; absent for a new one. */
export function MoreFields({ form, self }: { form: Form; self: string | undefined }) {
  return (
    <details class="task-more">
      <summary>More: labels, priority, dependencies, limits</summary>
      <div class="columns">
        <Text form={form} name="labels" label="Labels" placeholder="auth, backend" />
        <Text form={form} name="priority" label="Priority" number placeholder="0" hint="Highest starts first." />
      </div>
      <DependsField form={form} self={self} />
      <fieldset class="columns three">
        <legend>Stop early</legend>
        {LIMITS.map((name) => (
          <Limit key={name} form={form} name={name} />
        ))}
      </fieldset>
      {self && <Standing form={form} />}
    </details>
  )
}

export const LIMIT_WORDS: Readonly<Record<LimitName, [label: string, hint: string]>> = {
  minutes: ['Minutes', 'of working time'],
  cost_usd: ['Cost in USD', 'if the agent reports it'],
  tokens: ['Tokens', 'if the agent reports them'],
  no_progress: ['No progress', 'iterations that change nothing'],
  same_error: ['Same error', 'times in a row'],
}

function Limit({ form, name }: { form: Form; name: LimitName }) {
  const { limits } = form.draft
  const [label, hint] = LIMIT_WORDS[name]
  const field = `limits.${name}`
  return (
    <Field form={form} field={field} label={label} hint={hint}>
      <input
        {...marks(form, field, hint)}
        type="number"
        min="0"
        step="any"
        value={limits[name]}
        onInput={({ currentTarget }) => form.set({ limits: { ...limits, [name]: currentTarget.value } })}
      />
    </Field>
  )
}

function Standing({ form }: { form: Form }) {
  return (
    <div class="columns">
      <Field form={form} field="status" label="Status">
        <select
          {...marks(form, 'status')}
          value={form.draft.status}
          onChange={({ currentTarget }) => form.set({ status: currentTarget.value as (typeof BOARD_STATUSES)[number] })}
        >
          {BOARD_STATUSES.map((status) => (
            <option key={status} value={status}>
              {capital(plain(status))}
            </option>
          ))}
        </select>
      </Field>
      <Switch form={form} name="archived" label="Archived">
        Hidden from the board
      </Switch>
    </div>
  )
}
