/** The smallest subset that still does what the whole set does, with as few tries as possible. */

/** `isSmallest`: none of them can be left out. Otherwise there was no time to find out. */
export type Smallest = { items: string[]; isSmallest: boolean }

const FEW = 8

/**
 * The whole set works, and the empty one does not. In a small set, each is tried alone first: usually one is enough. In
 * a large set, halves are left out, then quarters, down to single elements. `works` returns undefined when nothing more
 * can be tried.
 */
export async function findSmallest(
  all: readonly string[],
  works: (items: readonly string[]) => Promise<boolean | undefined>,
): Promise<Smallest> {
  if (all.length <= FEW) {
    for (const item of all.length > 1 ? all : []) {
      const alone = await works([item])
      if (alone === undefined) return { items: [...all], isSmallest: false }
      if (alone) return { items: [item], isSmallest: true }
    }
  }
  let items = [...all]
  for (let size = all.length <= FEW ? 1 : Math.ceil(all.length / 2); size >= 1; ) {
    const before = items.length
    for (let at = 0; at < items.length; ) {
      const rest = items.toSpliced(at, size)
      const still = rest.length > 0 && (await works(rest))
      if (still === undefined) return { items, isSmallest: false }
      if (still) items = rest
      else at += size
    }
    if (size > 1) size = Math.min(Math.ceil(size / 2), Math.ceil(items.length / 2))
    else if (items.length === before) break
  }
  return { items, isSmallest: true }
}
