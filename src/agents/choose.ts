/** `--agent auto`: which installed agent takes a loop, and why. */

/** In the order of the table of agents. */
export type Found = { name: string; login: 'yes' | 'no' | 'unknown' }

/** First the agent that has completed loops here, then one that is logged in, then the first installed. */
export function chooseAgent(
  found: readonly Found[],
  finished: ReadonlyMap<string, number>,
): { name: string; why: string } | undefined {
  const usable = found.filter(({ login }) => login !== 'no')
  const proven = usable
    .filter(({ name }) => finished.has(name))
    .sort((a, b) => (finished.get(b.name) ?? 0) - (finished.get(a.name) ?? 0))[0]
  if (proven) {
    const loops = finished.get(proven.name) ?? 0
    return { name: proven.name, why: `it has completed ${loops} ${loops === 1 ? 'loop' : 'loops'} here` }
  }
  const chosen = usable.find(({ login }) => login === 'yes') ?? usable[0]
  if (!chosen) return undefined
  const others = usable.filter(({ name }) => name !== chosen.name).map(({ name }) => name)
  const first = chosen.login === 'yes' ? 'it is the first that is logged in' : 'it is the first one installed'
  return {
    name: chosen.name,
    why: others.length > 0 ? `${first}; also installed: ${others.join(', ')}` : 'it is the only one installed',
  }
}
