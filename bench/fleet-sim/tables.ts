/** The outcome of a simulation as tables for people. */
import { bottleneck, connectionsOf, count, loads } from './bottleneck.ts'
import type { Outcome } from './simulate.ts'
import { BACKLOG } from './workload.ts'

export function loadTable(outcomes: readonly Outcome[]): string {
  const head = ['workers', 'slots', 'tasks/h', 'slots busy', 'db cores', 'event row', 'connections', 'commits/s']
  const more = ['events/s', 'heartbeats/s', 'write p95', 'pass p50 / p95 / max']
  const rows = outcomes.map((outcome) => {
    const { scenario, usage, sight } = outcome
    const { workers, concurrency, windowMs, costs } = scenario
    const load = loads(outcome)
    const { save, settle, release, submit, beat, touch } = usage.perSecond
    return [
      count(workers),
      count(workers * concurrency),
      count((sight.finished * 3_600_000) / windowMs),
      percent(load.slots),
      percent(load.cores),
      percent(load.counter),
      `${count(connectionsOf(costs, workers))} of ${count(costs.database.connections)}`,
      count(usage.commitsPerSecond),
      (save + settle + release + submit).toFixed(1),
      count(beat + touch + usage.perSecond['worker-beat']),
      duration(quantile(usage.orderedMs, 0.95)),
      [0.5, 0.95, 1]
        .map((part) => quantile(sight.passMs, part).toFixed(1))
        .join(' / ')
        .concat(' ms'),
    ]
  })
  return table([[...head, ...more], ...rows])
}

export function bottleneckLines(outcomes: readonly Outcome[]): string {
  return outcomes.map((outcome) => `${count(outcome.scenario.workers).padStart(7)}: ${bottleneck(outcome)}`).join('\n')
}

/** Why the tasks that a pass looks at are not released. */
export function heldLines(outcomes: readonly Outcome[]): string {
  return outcomes
    .map(({ scenario, sight }) => {
      const kinds = [...sight.held].sort(([, one], [, other]) => other - one)
      return `${count(scenario.workers).padStart(7)}: ${kinds.map(([kind, tasks]) => `${kind} ${count(tasks)}`).join(', ')}`
    })
    .join('\n')
}

/** How long each submitter waited for a slot, from the moment only files and slots were in the way. */
export function waitTable(outcomes: readonly Outcome[]): string {
  const head = ['workers', 'submitter', 'finished', 'share of slots', 'wait p50', 'wait p95']
  const rows = outcomes.flatMap(({ scenario, sight }) =>
    [...sight.submitters]
      .sort(([one], [other]) => Number(one !== BACKLOG) - Number(other !== BACKLOG) || (one < other ? -1 : 1))
      .map(([name, { finished, slotMs, waitsMs }]) => [
        count(scenario.workers),
        name,
        count(finished),
        percent(slotMs / scenario.windowMs / (scenario.workers * scenario.concurrency)),
        name === BACKLOG ? 'backlog' : duration(quantile(waitsMs, 0.5)),
        name === BACKLOG ? 'backlog' : duration(quantile(waitsMs, 0.95)),
      ]),
  )
  return table([head, ...rows])
}

/** Totals for the whole backlog, extrapolated from the rate in the observed window. */
export function wholeTable(outcomes: readonly Outcome[]): string {
  const head = ['workers', 'tasks', 'takes', 'events', 'heartbeats', 'rows and events', 'transcripts', 'total']
  const rows = outcomes.map(({ scenario, usage, sight }) => {
    const { tasks, windowMs, costs, workers } = scenario
    const ms = (tasks * windowMs) / sight.finished
    const iterations = (tasks * sight.iterations) / sight.finished
    const { beat, touch, save, settle } = usage.perSecond
    const saves = 2 * iterations + 2 * tasks
    const rowBytes = tasks * (costs.bytes.task + costs.bytes.loop) + saves * costs.bytes.save
    const transcripts = iterations * costs.bytes.iteration
    return [
      count(workers),
      count(tasks),
      duration(ms),
      count(((save + settle) * ms) / 1_000),
      count(((beat + touch) * ms) / 1_000),
      gigabytes(rowBytes),
      gigabytes(transcripts),
      gigabytes(rowBytes + transcripts),
    ]
  })
  return table([head, ...rows])
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')).join('\n')
}

function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

function percent(part: number): string {
  return `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`
  if (ms < 120_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 2 * 3_600_000) return `${(ms / 60_000).toFixed(0)} min`
  return ms < 48 * 3_600_000 ? `${(ms / 3_600_000).toFixed(1)} h` : `${(ms / 86_400_000).toFixed(1)} days`
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}
