/**
 * Verifies objects that a rollback is about to trust. git names each by a hash of its content, but does not check that
 * hash when it reads one, and an agent can write the files they are in.
 */
import { createHash } from 'node:crypto'
import { RalphError } from '../error.ts'
import type { Repository } from './git.ts'
import { readObjects } from './means.ts'

type Named = { id: string; type: string; size: number }

/** All folders of a tree, and of its files those that will be written. */
export async function refuseDamaged(repo: Repository, tree: string, written: readonly string[]): Promise<void> {
  const listed = await repo.list(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', tree])
  const paths = new Set(written)
  const objects = (listed ?? []).flatMap((entry): Named[] => {
    const [, type = '', id = '', size, path = ''] = /^\d+ (\w+) (\w+) +(\d+|-)\t(.*)$/s.exec(entry) ?? []
    return type === 'tree' || (type === 'blob' && paths.has(path)) ? [{ id, type, size: Number(size) || 0 }] : []
  })
  for (const few of inParts([{ id: tree, type: 'tree', size: 0 }, ...objects])) {
    const found = await readObjects(
      repo,
      few.map(({ id }) => id),
    )
    for (const { id, type } of few) if (hashOf(type, found?.get(id), id.length) !== id) throw damaged(repo, id)
  }
}

/** As many as are held in memory at once. A larger one is not looked at. */
function inParts(objects: readonly Named[]): Named[][] {
  const parts: Named[][] = []
  let left = 0
  for (const object of objects.filter(({ size }) => size <= MOST)) {
    left -= object.size + SMALL
    if (left < 0) {
      parts.push([])
      left = MOST
    }
    parts.at(-1)?.push(object)
  }
  return parts
}

const MOST = 64 * 1024 * 1024
/** The estimated size of a folder, which git does not list. */
const SMALL = 4 * 1024

function hashOf(type: string, bytes: Buffer | undefined, length: number): string | undefined {
  if (!bytes) return undefined
  const hash = createHash(length === 40 ? 'sha1' : 'sha256')
  return hash.update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
}

function damaged({ top }: Repository, id: string): RalphError {
  return new RalphError(
    'git-failed',
    `The checkpoint is damaged: the object ${id} in the repository of ${top} is missing or corrupt. Nothing was changed. Run \`git fsck\` there for details.`,
  )
}
