/** Other loops running in the same folder: two loops there mistake each other's changes for their own. */
import { type Loop, OPEN } from '../engine/loop.ts'
import type { Store } from '../host/store.ts'

/** Other running loops in the same folder or repository. */
export async function runningAlongside(
  store: Pick<Store, 'list' | 'load' | 'isDriven'>,
  { id, spec }: Pick<Loop, 'id' | 'spec'>,
): Promise<string[]> {
  const others: string[] = []
  for (const other of (await store.list({ status: OPEN, limit: 100_000 })).rows) {
    if (other.id === id || !(await store.isDriven(other.id))) continue
    const { dir, gitDir } = (await store.load(other.id)).spec.work
    if (dir === spec.work.dir || (gitDir !== undefined && gitDir === spec.work.gitDir)) others.push(other.id)
  }
  return others
}
