/** The part of the form that says what to do, and where. */
import type { OutputOf } from '../data/source.ts'
import { Field, type Form, marks, Text } from './form.tsx'

export type Places = { groups: OutputOf<'list_groups'>['groups']; folders: readonly string[]; here: string }

export function WhatFields({ form, places, dir }: { form: Form; places: Places; dir: string }) {
  return (
    <>
      <Text form={form} name="title" label="Task" placeholder="Migrate auth to sessions" autofocus />
      <Field form={form} field="description" label="What done means">
        <textarea
          {...marks(form, 'description')}
          rows={4}
          placeholder="All routes use the session store. No JWT helper is left. docs/auth.md describes login and logout."
          value={form.draft.description}
          onInput={({ currentTarget }) => form.set({ description: currentTarget.value })}
        />
      </Field>
      <div class="columns three">
        <Text form={form} name="repo" label="Folder" placeholder={dir} list={places.folders} />
        <Field form={form} field="project_id" label="Group">
          <select
            {...marks(form, 'project_id')}
            value={form.draft.project_id}
            onChange={({ currentTarget }) => form.set({ project_id: currentTarget.value })}
          >
            <option value="">None</option>
            {places.groups.map(({ project_id, name }) => (
              <option key={project_id} value={project_id}>
                {name}
              </option>
            ))}
          </select>
        </Field>
        <Text form={form} name="type" label="Type" placeholder="feature, bug, docs …" list={TYPES} />
      </div>
    </>
  )
}

const TYPES = ['feature', 'bug', 'docs', 'refactor', 'test', 'chore']
