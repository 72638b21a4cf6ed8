/** What running tasks hold: their branches, and the files they declared to touch. */
import { fixedFolders, type GlobMachine, machineOf, machinesMeet } from '../formats/globs-overlap.ts'
import type { Busy, Held } from './picture.ts'

type Holder = Pick<Busy, 'id' | 'repo' | 'base' | 'branch' | 'touches'>

export type Taken = {
  take(task: Holder): void
  branch(task: Holder): Held | undefined
  /** Only tasks that are merged into the same branch can conflict. */
  files(task: Holder): Held | undefined
}

/** The globs that start with the same folders, each with the first task that holds it, and deeper nodes. */
type Shelf = { globs: Map<string, string>; below: Map<string, Shelf> }

export function openTaken(busy: readonly Busy[]): Taken {
  const repos = new Map<string, Repo>()
  const meet = comparer()
  const repoOf = (name: string) => entry(repos, name, () => ({ branches: new Map(), shelves: new Map() }))
  const takeFiles = ({ id, repo, base, touches }: Holder) => {
    if (touches.length === 0) return
    const top = entry(repoOf(repo).shelves, base, newShelf)
    for (const glob of touches) putAway(top, glob, id)
  }
  // Names the same task whatever the order of the list.
  for (const { id, repo, branch } of busy) {
    const { branches } = repoOf(repo)
    const other = branches.get(branch)
    if (other === undefined || id < other) branches.set(branch, id)
  }
  for (const task of busy.filter(({ touches }) => touches.length > 0).sort((a, b) => (a.id < b.id ? -1 : 1)))
    takeFiles(task)
  return {
    take(task) {
      repoOf(task.repo).branches.set(task.branch, task.id)
      takeFiles(task)
    },
    branch({ repo, branch }) {
      const by = repos.get(repo)?.branches.get(branch)
      return by === undefined ? undefined : { kind: 'branch-taken', by }
    },
    files({ repo, base, touches }) {
      const top = repos.get(repo)?.shelves.get(base)
      if (!top) return undefined
      for (const glob of touches)
        for (const [theirs, by] of candidates(top, glob))
          if (meet(glob, theirs)) return { kind: 'files-taken', by, glob, theirs }
      return undefined
    },
  }
}

/** By branch name: the task that works on it, and the files taken by tasks that are merged into it. */
type Repo = { branches: Map<string, string>; shelves: Map<string, Shelf> }

function entry<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function newShelf(): Shelf {
  return { globs: new Map(), below: new Map() }
}

function putAway(top: Shelf, glob: string, id: string): void {
  let shelf = top
  for (const folder of fixedFolders(glob)) shelf = entry(shelf.below, folder, newShelf)
  if (!shelf.globs.has(glob)) shelf.globs.set(glob, id)
}

/** Two globs can overlap only if the leading folders of one are a prefix of the other's: above this node, or below it. */
function* candidates(top: Shelf, glob: string): Generator<[glob: string, id: string]> {
  let shelf: Shelf | undefined = top
  for (const folder of fixedFolders(glob)) {
    yield* shelf.globs
    shelf = shelf.below.get(folder)
    if (!shelf) return
  }
  yield* everything(shelf)
}

function* everything(shelf: Shelf): Generator<[glob: string, id: string]> {
  yield* shelf.globs
  for (const deeper of shelf.below.values()) yield* everything(deeper)
}

/** Compares two globs; parses each glob once, and compares each pair once. */
function comparer(): (one: string, other: string) => boolean {
  const machines = new Map<string, GlobMachine>()
  const machine = (glob: string) => entry(machines, glob, () => machineOf(glob))
  const known = new Map<string, Map<string, boolean>>()
  return (one, other) =>
    entry(
      entry(known, one, () => new Map<string, boolean>()),
      other,
      () => machinesMeet(machine(one), machine(other)),
    )
}
