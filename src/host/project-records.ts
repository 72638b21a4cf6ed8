/** The records of projects in SQLite. */
import type { Asking } from './asking.ts'
import { parse } from './rows.ts'
import type { ProjectRecords } from './store.ts'

export function projectRecords({ one, insert, run }: Asking, now: () => number): ProjectRecords {
  return {
    async load(folder) {
      const row = one('SELECT record FROM project WHERE folder = ?', folder)
      return row && parse(row.record, `project ${folder}`)
    },
    async save(folder, record) {
      insert('project', { folder, record: JSON.stringify(record), updated_at: now() }, 'REPLACE')
    },
    async forget(folder) {
      run('DELETE FROM project WHERE folder = ?', folder)
    },
  }
}
