/** Measurements in rounds: how to take them fairly, and the two numbers that sum them up. */

/** `calm` is the median of the calmest round: other work on the machine can only make a round slower. */
export type Spread = { median: number; calm: number }

export function spread(rounds: readonly (readonly number[])[]): Spread {
  return { median: median(rounds.flat()), calm: Math.min(...rounds.map(median)) }
}

function median(values: readonly number[]): number {
  const middle = [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
  if (middle === undefined) throw new Error('Nothing was measured.')
  return middle
}

/** The sides alternate and take turns starting, so that whatever slows the machine down slows all of them. */
export async function sideBySide<Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => number[] | Promise<number[]>>>,
): Promise<Record<Side, number[][]>> {
  const names = Object.keys(sides) as Side[] // exactly these, since the object is written as a literal
  const taken = Object.fromEntries(names.map((name) => [name, [] as number[][]])) as Record<Side, number[][]>
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 ? names.toReversed() : names) taken[name].push(await sides[name]())
  return taken
}

/** How long each of many calls takes, in milliseconds. */
export async function timeEach(calls: number, work: () => unknown): Promise<number[]> {
  const times: number[] = []
  for (let call = 0; call < calls; call++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times
}
