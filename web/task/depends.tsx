/** A search for the tasks that must be done before this one. */
import { useState } from 'preact/hooks'
import { useQuery } from '../data/query.ts'
import { Button } from '../parts/common.tsx'
import { Field, type Form, marks } from './form.tsx'

export function DependsField({ form, self }: { form: Form; self: string | undefined }) {
  const [text, setText] = useState('')
  const { depends_on: chosen } = form.draft
  const found = useQuery('list_tasks', text.trim() ? { text: text.trim(), limit: 8 } : undefined).value?.tasks ?? []
  const others = found.filter(({ id }) => id !== self && !chosen.includes(id))
  return (
    <Field form={form} field="depends_on" label="Starts after" hint="It stays queued until these tasks are done.">
      {chosen.map((id) => (
        <Chosen key={id} id={id} remove={() => form.set({ depends_on: chosen.filter((one) => one !== id) })} />
      ))}
      <input
        {...marks(form, 'depends_on', true)}
        type="search"
        placeholder="Search tasks"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {others.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          class="button quiet found"
          onClick={() => {
            form.set({ depends_on: [...chosen, id] })
            setText('')
          }}
        >
          + {title}
        </button>
      ))}
      {text.trim() && others.length === 0 && <small>No other task matches.</small>}
    </Field>
  )
}

function Chosen({ id, remove }: { id: string; remove: () => void }) {
  const title = useQuery('get_task', { task_id: id }).value?.title ?? id
  return (
    <div class="line">
      <span class="grow">{title}</span>
      <Button kind="quiet" label={`Do not wait for ${title}`} run={remove}>
        ×
      </Button>
    </div>
  )
}
