/** The agents of one dispatcher, as the page knows them. */
import type { OutputOf } from '../data/source.ts'

export type Crew = OutputOf<'list_agents'>

/** As typed in a terminal. */
export function quoted(path: string): string {
  return /^[\w/.~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
