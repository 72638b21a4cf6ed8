/** Finds the parts of its prompt that an agent repeats, line by line, in linear time. */

/**
 * Whether a line is the agent's own; ask for one line after the other. Three or more lines, or the whole of a shorter
 * prompt, that appear in the prompt in this order are an echo; blank lines (empty strings) within it belong to it.
 */
export function notEchoed(spoken: readonly string[], asked: readonly string[]): (_: unknown, at: number) => boolean {
  const said = spoken.flatMap((line, at) => (line === '' ? [] : at))
  const after = partsOf(asked)
  const least = Math.min(3, asked.length)
  let read = 0
  let echoed = 0
  return (_, at) => {
    if (spoken[at] === '') return echoed === 0
    if (echoed === 0) {
      const run = runFrom(read)
      if (run >= least) echoed = run
    }
    read++
    return echoed === 0 || echoed-- === 0
  }

  /** How many lines from there on appear in the prompt, one below the other. */
  function runFrom(start: number): number {
    let run = 0
    for (let part: number | undefined = START; ; run++) {
      part = after(part, spoken[said[start + run] ?? -1] ?? '')
      if (part === undefined) return run
    }
  }
}

const START = 0

/**
 * Every run of lines in a list (a suffix automaton): given a run and the line after it, returns the longer run, or
 * undefined if the list has none. Lines may repeat any number of times: there are at most twice as many runs as lines.
 */
function partsOf(lines: readonly string[]): (part: number, line: string) => number | undefined {
  const names = new Map<string, number>()
  for (const line of lines) if (!names.has(line)) names.set(line, names.size)
  const [longest, shorter] = [[0], [-1]]
  // Most runs are followed by one line; a table for each of them would take a hundred times the memory.
  const [onlyName, onlyTo] = [[-1], [-1]]
  const more = new Map<number, Map<number, number>>()
  const way = (part: number, name: number) => (onlyName[part] === name ? onlyTo[part] : more.get(part)?.get(name))
  const lead = (part: number, name: number, to: number) => {
    if (onlyName[part] === -1 || onlyName[part] === name) {
      onlyName[part] = name
      onlyTo[part] = to
    } else more.set(part, (more.get(part) ?? new Map<number, number>()).set(name, to))
  }
  const add = (length: number, link: number) => {
    onlyName.push(-1)
    onlyTo.push(-1)
    shorter.push(link)
    return longest.push(length) - 1
  }
  /** Splits off a run that ends here in a different way from the rest of `whole`. */
  const split = (whole: number, length: number) => {
    const copy = add(length, shorter[whole] ?? START)
    onlyName[copy] = onlyName[whole] ?? -1
    onlyTo[copy] = onlyTo[whole] ?? -1
    if (more.has(whole)) more.set(copy, new Map(more.get(whole)))
    shorter[whole] = copy
    return copy
  }

  let last = START
  for (const line of lines) {
    const name = names.get(line) ?? 0
    const here = add((longest[last] ?? 0) + 1, START)
    let part = last
    for (; part >= 0 && way(part, name) === undefined; part = shorter[part] ?? -1) lead(part, name, here)
    if (part >= 0) {
      const known = way(part, name) ?? START
      const length = (longest[part] ?? 0) + 1
      const same = longest[known] === length ? known : split(known, length)
      for (; same !== known && part >= 0 && way(part, name) === known; part = shorter[part] ?? -1)
        lead(part, name, same)
      shorter[here] = same
    }
    last = here
  }
  return (part, line) => {
    const name = names.get(line)
    return name === undefined ? undefined : way(part, name)
  }
}
