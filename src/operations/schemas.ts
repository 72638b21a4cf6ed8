/** What goes into each operation and what comes out, checked. Loaded only where input comes from outside. */
import { AGENT_SCHEMAS } from './agent-schemas.ts'
import type { Table } from './index.ts'
import { LOOP_SCHEMAS } from './loop-schemas.ts'
import { PROJECT_SCHEMAS } from './project-schemas.ts'
import type { SchemasOf } from './schema-parts.ts'
import { TASK_SCHEMAS } from './task-schemas.ts'

export const SCHEMAS: SchemasOf<keyof Table> = {
  ...LOOP_SCHEMAS,
  ...PROJECT_SCHEMAS,
  ...TASK_SCHEMAS,
  ...AGENT_SCHEMAS,
}
