/** What the tasks under way hold: their branches, and the files they said they would touch. */
import { fixedFolders, type GlobMachine, machineOf, machinesMeet } from '../formats/globs-overlap.ts'
import type { Busy, Held } from './picture.ts'

type Holder = Pick<Busy, 'id' | 'repo' | 'base' | 'branch' | 'touches'>

export type Taken = {
  take(task: Holder): void
  branch(task: Holder): Held | undefined
  /** Only tasks that are merged into the same branch get in each other's way. */
  files(task: Holder): Held | undefined
}

/** The globs that begin with the same folders, each with the first task that holds it, and those that go deeper. */
type Shelf = { globs: Map<string, string>; below: Map<string, Shelf> }

export function openTaken(busy: readonly Busy[]): Taken {
  const branches = new Map<string, string>()
  const shelves = new Map<string, Shelf>()
  const meet = comparer()
  const taken: Taken = {
    take({ id, repo, base, branch, touches }) {
      branches.set(place(repo, branch), id)
      if (touches.length === 0) return
      const top = shelves.get(place(repo, base)) ?? newShelf()
      shelves.set(place(repo, base), top)
      for (const glob of touches) putAway(top, glob, id)
    },
    branch({ repo, branch }) {
      const by = branches.get(place(repo, branch))
      return by === undefined ? undefined : { kind: 'branch-taken', by }
    },
    files({ repo, base, touches }) {
      const top = shelves.get(place(repo, base))
      if (!top) return undefined
      for (const glob of touches)
        for (const [theirs, by] of candidates(top, glob))
          if (meet(glob, theirs)) return { kind: 'files-taken', by, glob, theirs }
      return undefined
    },
  }
  // In an order of its own, so that the same task is named however the list was read.
  for (const task of [...busy].sort((a, b) => (a.id < b.id ? -1 : 1))) taken.take(task)
  return taken
}

// No branch has a line break in its name, so two places never share a text.
function place(repo: string, branch: string): string {
  return `${branch}\n${repo}`
}

function newShelf(): Shelf {
  return { globs: new Map(), below: new Map() }
}

function putAway(top: Shelf, glob: string, id: string): void {
  let shelf = top
  for (const folder of fixedFolders(glob)) {
    const deeper = shelf.below.get(folder) ?? newShelf()
    shelf.below.set(folder, deeper)
    shelf = deeper
  }
  if (!shelf.globs.has(glob)) shelf.globs.set(glob, id)
}

/** Two globs can only meet where the folders that one begins with begin the other, too: above this one, or below it. */
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

/** Compares two globs; each is read once, and each pair is compared once. */
function comparer(): (one: string, other: string) => boolean {
  const machines = new Map<string, GlobMachine>()
  const machine = (glob: string) => {
    const read = machines.get(glob) ?? machineOf(glob)
    machines.set(glob, read)
    return read
  }
  const known = new Map<string, Map<string, boolean>>()
  return (one, other) => {
    const row = known.get(one) ?? new Map<string, boolean>()
    known.set(one, row)
    const met = row.get(other) ?? machinesMeet(machine(one), machine(other))
    row.set(other, met)
    return met
  }
}
