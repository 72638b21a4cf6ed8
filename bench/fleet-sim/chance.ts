/** Random numbers with a seed: the same seed gives the same fleet. */

export type Chance = {
  /** From 0 to 1. */
  number(): number
  below(limit: number): number
  pick<Item>(items: readonly [Item, ...Item[]]): Item
  /** Durations: most are near the median, a few take many times as long. */
  lognormal(median: number, spread: number): number
  /** The time until the next arrival. */
  exponential(mean: number): number
}

export function seededChance(seed: number): Chance {
  let state = seed >>> 0
  // mulberry32
  const number = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(number() * limit)
  return {
    number,
    below,
    pick: (items) => items[below(items.length)] ?? items[0],
    lognormal(median, spread) {
      const normal = Math.sqrt(-2 * Math.log(1 - number())) * Math.cos(2 * Math.PI * number())
      return median * Math.exp(spread * normal)
    },
    exponential: (mean) => -mean * Math.log(1 - number()),
  }
}
