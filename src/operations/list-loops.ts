/** Lists the loops. */
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ListFilter, LoopRow } from '../host/store.ts'
import { given } from '../request/given.ts'
import { type Attendance, attendanceOf } from './attendance.ts'
import type { Operation } from './operation.ts'

export type ListedLoop = LoopRow & Attendance

const USUAL = 100

export const listLoops: Operation<ListFilter, { loops: ListedLoop[]; next?: string }> = {
  name: 'list_loops',
  effect: 'read',
  summary: 'Lists the loops on this machine, newest first, whatever started them.',
  agent: {},
  async run(context, filter) {
    const { dir, limit = USUAL, ...others } = filter
    const folder = dir === undefined ? undefined : folderAt(resolve(context.cwd, dir))
    const { rows, next } = await context.store().list({ ...others, limit, ...given({ dir: folder }) })
    const loops = rows.map(async (row) => ({ ...row, ...(await attendanceOf(context, row)) }))
    return { loops: await Promise.all(loops), ...given({ next }) }
  },
}

/** As loops store it; a deleted folder keeps its name. */
export function folderAt(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
