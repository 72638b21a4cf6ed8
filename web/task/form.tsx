/** The building blocks of the task form: a field with its label, hint and error. */
import type { ComponentChildren } from 'preact'
import type { Draft } from './draft.ts'

/** `problem`: what the server refused, and in which field. */
export type Form = { draft: Draft; set(change: Partial<Draft>): void; problem?: { field: string; message: string } }

type TextName = { [Name in keyof Draft]: Draft[Name] extends string ? Name : never }[keyof Draft]

/** The error of this field, or of something in it. */
function wrongWith({ problem }: Form, field: string): string | undefined {
  const rest = problem?.field.startsWith(field) ? problem.field.slice(field.length) : undefined
  return rest === '' || rest?.startsWith('[') || rest?.startsWith('.') ? problem?.message : undefined
}

export function Wrong({ form, field }: { form: Form; field: string }) {
  const message = wrongWith(form, field)
  return (
    message && (
      <p class="error" id={`wrong-${field}`} role="alert">
        {message}
      </p>
    )
  )
}

/** Ties a control to its label and its error. */
export function marks(form: Form, field: string, hint?: unknown) {
  const wrong = wrongWith(form, field) !== undefined
  const ids = [...(wrong ? [`wrong-${field.split('[')[0]}`] : []), ...(hint ? [`hint-${field}`] : [])]
  return {
    id: `task-${field}`,
    'data-field': field,
    'aria-invalid': wrong,
    'aria-describedby': ids.join(' ') || undefined,
  }
}

export function Field(props: {
  form: Form
  field: string
  label: ComponentChildren
  hint?: ComponentChildren
  children: ComponentChildren
}) {
  const { form, field, label, hint, children } = props
  return (
    <div class="field">
      <label for={`task-${field}`}>{label}</label>
      {children}
      {hint && <small id={`hint-${field}`}>{hint}</small>}
      <Wrong form={form} field={field} />
    </div>
  )
}

type TextProps = {
  form: Form
  name: TextName
  label: ComponentChildren
  hint?: ComponentChildren
  placeholder?: string | undefined
  list?: readonly string[]
  number?: boolean
  autofocus?: boolean
}

export function Text({ form, name, label, hint, placeholder, list, number = false, autofocus = false }: TextProps) {
  return (
    <Field form={form} field={name} label={label} hint={hint}>
      <input
        {...marks(form, name, hint)}
        type={number ? 'number' : 'text'}
        placeholder={placeholder}
        list={list ? `list-${name}` : undefined}
        value={form.draft[name]}
        autocomplete="off"
        autofocus={autofocus}
        onInput={({ currentTarget }) => form.set({ [name]: currentTarget.value })}
      />
      {list && (
        <datalist id={`list-${name}`}>
          {list.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </Field>
  )
}

type SwitchName = { [Name in keyof Draft]: Draft[Name] extends boolean ? Name : never }[keyof Draft]

export function Switch(props: { form: Form; name: SwitchName; label: string; children?: ComponentChildren }) {
  const { form, name, label, children } = props
  return (
    <div class="switch">
      <input
        {...marks(form, name, children)}
        type="checkbox"
        role="switch"
        checked={form.draft[name]}
        onChange={({ currentTarget }) => form.set({ [name]: currentTarget.checked })}
      />
      <div>
        <label for={`task-${name}`}>{label}</label>
        {children && <small id={`hint-${name}`}>{children}</small>}
      </div>
    </div>
  )
}
