/** Only one ralph works on a project at a time. */
import { existsSync, mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { RalphError } from '../error.ts'
import { lockFile } from '../host/lock.ts'
import type { Store } from '../host/store.ts'
import type { Project } from './folder.ts'
import { forgetPast } from './past.ts'

/** The lock is next to the project, since two users or a container do not share a home. */
export function lockProject({ name, folder }: Project): { hold(): void; release(): void } {
  const path = join(dirname(folder), `.${name}.lock`)
  const take = () => {
    const lock = lockFile(path, `process ${process.pid} on ${hostname()}`)
    if (!('heldBy' in lock)) return lock
    throw new RalphError(
      'project-held',
      `The project ${name} is being worked on by ${lock.heldBy}. Watch it with \`ralph status ${name} --watch\`.`,
    )
  }
  let lock = take()
  return {
    hold() {
      if (existsSync(path)) return
      lock.close()
      lock = take()
    },
    release: () => lock.close(),
  }
}

/** Whether anyone is working on a project now. */
export function isHeld({ name, folder }: Project): boolean {
  const path = join(dirname(folder), `.${name}.lock`)
  if (!existsSync(path)) return false
  const lock = lockFile(path, 'somebody who looks')
  if ('heldBy' in lock) return true
  lock.close()
  return false
}

/** `database`: the store is not the home's own. */
type Knowing = { home: string; database?: string | undefined; store: () => Store; now: () => number }

/** A new project starts, unless someone is working on the previous one. */
export async function withoutPast(project: Project, { home, database, store, now }: Knowing): Promise<void> {
  // If nothing is known, do not create a store just to find that out.
  if (!database && !existsSync(join(home, 'ralph.db'))) return
  if ((await store().projects.load(project.folder)) === undefined) return
  mkdirSync(dirname(project.folder), { recursive: true })
  const lock = lockProject(project)
  try {
    await forgetPast(project, { store: store(), now })
  } finally {
    lock.release()
  }
}
