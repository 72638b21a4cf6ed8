/** Prompt templates: Markdown with {{variables}}. */
import { RalphError } from '../error.ts'
import { nearest } from './nearest.ts'

/** Inserts values verbatim: one that looks like a variable is not expanded. An unknown variable is an error. */
export function renderTemplate(text: string, values: Readonly<Record<string, string>>, file: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\{\{([^{}]*)\}\}/g, (_, between: string) => {
    const name = between.trim()
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value !== undefined) return value
    const close = nearest(name, Object.keys(values))
    throw new RalphError(
      'template-invalid',
      `${file}: unknown variable {{${name}}}.${close ? ` Did you mean {{${close}}}?` : ''} Known variables: ${Object.keys(values).join(', ')}.`,
    )
  })
}
