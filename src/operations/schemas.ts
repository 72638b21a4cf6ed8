/** Input and output schemas of all operations. Loaded only when input comes from outside. */
import { AGENT_SCHEMAS } from './agent-schemas.ts'
import { ANALYTICS_SCHEMAS } from './analytics-schemas.ts'
import { BOARD_SCHEMAS } from './board-schemas.ts'
import { FLEET_SCHEMAS } from './fleet-schemas.ts'
import { HERE_SCHEMAS } from './here-schemas.ts'
import type { Table } from './index.ts'
import { ITERATION_SCHEMAS } from './iteration-schemas.ts'
import { LOOP_SCHEMAS } from './loop-schemas.ts'
import { PAGE_SCHEMAS } from './page-schemas.ts'
import { PROJECT_SCHEMAS } from './project-schemas.ts'
import type { SchemasOf } from './schema-parts.ts'
import { VAULT_SCHEMAS } from './vault-schemas.ts'
import { WORK_SCHEMAS } from './work-schemas.ts'

export const SCHEMAS: SchemasOf<keyof Table> = {
  ...LOOP_SCHEMAS,
  ...ITERATION_SCHEMAS,
  ...ANALYTICS_SCHEMAS,
  ...PROJECT_SCHEMAS,
  ...VAULT_SCHEMAS,
  ...WORK_SCHEMAS,
  ...AGENT_SCHEMAS,
  ...HERE_SCHEMAS,
  ...BOARD_SCHEMAS,
  ...PAGE_SCHEMAS,
  ...FLEET_SCHEMAS,
}
