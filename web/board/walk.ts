/** Moves the focus between cards: within a column, and to the neighboring columns. */

export function step(across: number, down: number): void {
  const columns = [...document.querySelectorAll('.column')].map(linksIn).filter((links) => links.length > 0)
  const here = document.activeElement?.closest('.task-card')?.querySelector<HTMLElement>('.cover')
  const x = columns.findIndex((links) => here && links.includes(here))
  const y = here ? (columns[x]?.indexOf(here) ?? 0) : 0
  const links = columns[x < 0 ? 0 : clamp(x + across, columns.length)] ?? []
  const link = links[x < 0 ? 0 : clamp(y + down, links.length)]
  link?.focus()
  link?.closest('.task-card')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function linksIn(column: Element): HTMLElement[] {
  return [...column.querySelectorAll<HTMLElement>('.cover')]
}

function clamp(at: number, length: number): number {
  return Math.max(0, Math.min(at, length - 1))
}
