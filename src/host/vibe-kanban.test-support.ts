/** A database as vibe-kanban creates it, with the columns of its versions. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { temporaryFolder } from './place.test-support.ts'

export type ForeignBoard = {
  path: string
  /** Adds a row and returns its id, as people know it. */
  add(table: string, row: Record<string, SQLInputValue>): string
  /** Keeps it open, as the running program does. */
  keepOpen(): DatabaseSync
}

const TIMES = `created_at TEXT NOT NULL DEFAULT '2026-01-05 09:00:00.123', updated_at TEXT NOT NULL DEFAULT '2026-01-06T10:00:00+00:00'`
const TASKS =
  'id BLOB PRIMARY KEY, project_id BLOB NOT NULL, title TEXT NOT NULL, description TEXT, status TEXT NOT NULL'
const FORK =
  'use_ralph_wiggum INTEGER DEFAULT 0 NOT NULL, ralph_max_iterations INTEGER DEFAULT 10, ralph_completion_promise TEXT'

/** `first`: the oldest one, with one folder per project. `fork`: the one with a loop. */
const VERSIONS = {
  first: `CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, git_repo_path TEXT NOT NULL UNIQUE, ${TIMES});
    CREATE TABLE tasks (${TASKS}, parent_task_attempt BLOB, ${TIMES});
    CREATE TABLE task_attempts (id BLOB PRIMARY KEY, task_id BLOB NOT NULL, worktree_path TEXT);`,
  newest: `CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, remote_project_id BLOB, ${TIMES});
    CREATE TABLE repos (id BLOB PRIMARY KEY, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL, display_name TEXT NOT NULL, ${TIMES});
    CREATE TABLE project_repos (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, repo_id BLOB NOT NULL, setup_script TEXT);
    CREATE TABLE tasks (${TASKS}, parent_workspace_id BLOB, ${TIMES});
    CREATE TABLE workspaces (id BLOB PRIMARY KEY, task_id BLOB, branch TEXT NOT NULL);`,
  fork: `CREATE TABLE projects (id BLOB PRIMARY KEY, name TEXT NOT NULL, ${TIMES});
    CREATE TABLE tasks (${TASKS}, ${FORK}, ${TIMES});`,
}

export function foreignBoard(version: keyof typeof VERSIONS, journal: 'delete' | 'wal' = 'delete'): ForeignBoard {
  const path = join(temporaryFolder(), 'db.v2.sqlite')
  const work = <Result>(how: (database: DatabaseSync) => Result) => {
    const database = new DatabaseSync(path)
    try {
      return how(database)
    } finally {
      database.close()
    }
  }
  work((database) => database.exec(`PRAGMA journal_mode = ${journal}; ${VERSIONS[version]}`))
  return {
    path,
    add(table, row) {
      const id = randomUUID()
      const columns = { id: bytesOf(id), ...row }
      const names = Object.keys(columns)
      work((database) =>
        database
          .prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`)
          .run(...Object.values(columns)),
      )
      return id
    },
    keepOpen: () => new DatabaseSync(path),
  }
}

/** An id as it is stored. */
export function bytesOf(id: string): Uint8Array {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}
