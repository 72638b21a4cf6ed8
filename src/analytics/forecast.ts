/** What finished loops say about one that will start or is running. No model is asked. */
import { ENOUGH_HISTORY, quantile } from '../engine/limits.ts'
import type { Size } from '../engine/loop.ts'
import { chanceOf, finishingOf } from './finishing.ts'
import { isCompleted, type LoopNumbers } from './numbers.ts'
import { type Interval, intervalOf, sumOf } from './share.ts'

/** Traits that loops may share. */
export type Traits = { dir?: string; agent?: string; type?: string; size?: Size }
export type Trait = keyof Traits

export type Alike = { by: Trait[]; loops: LoopNumbers[] }

// The folder says the most: its checks and its difficulty apply to the next loop too.
const LIKENESS: readonly (readonly Trait[])[] = [
  ['dir', 'agent', 'type', 'size'],
  ['dir', 'agent', 'type'],
  ['dir', 'agent', 'size'],
  ['dir', 'agent'],
  ['dir'],
  ['agent', 'size'],
  ['agent'],
  [],
]

/** The most similar loops, if there are enough of them; otherwise the widest set. */
export function alikeIn(ended: readonly LoopNumbers[], traits: Traits): Alike {
  const known = LIKENESS.map((by) => by.filter((trait) => traits[trait] !== undefined))
  const sets = known.map((by) => ({ by, loops: ended.filter((loop) => by.every((it) => loop[it] === traits[it])) }))
  return sets.find(({ loops }) => loops.length >= ENOUGH_HISTORY) ?? { by: [], loops: [...ended] }
}

/** `done`: iterations taken. `limit`: how many it may take in all; 0: no limit. */
export type Standing = { done: number; limit: number }

export type Forecast = {
  /** The chance to complete within the limit, with its 95% interval. */
  chance: Interval & { rate: number }
  /** What the completed loops that got further than this one took: half of them, and nine in ten. */
  iterations?: { median: number; p90: number }
  /** What loops cost, completed or not: eight in ten are between `low` and `high`. */
  costUsd?: { low: number; median: number; high: number; loops: number }
  /** The average cost of an iteration. */
  iterationUsd?: number
}

/** Undefined if too few loops are known, or none of them got as far. */
export function forecastOf(loops: readonly LoopNumbers[], { done, limit }: Standing): Forecast | undefined {
  const beyond = loops.filter(({ iterations }) => iterations > done)
  if (loops.length < ENOUGH_HISTORY || beyond.length === 0) return undefined
  const rate = chanceOf(finishingOf(loops), done, limit)
  const taken = beyond.filter(isCompleted).map(({ iterations }) => iterations)
  const priced = beyond.filter(({ costUsd }) => costUsd > 0)
  const costs = priced.map(({ costUsd }) => costUsd)
  return {
    chance: { rate, ...intervalOf(rate, beyond.length) },
    ...(taken.length > 0 ? { iterations: { median: quantile(taken, 0.5), p90: quantile(taken, 0.9) } } : {}),
    ...(costs.length > 0
      ? {
          costUsd: {
            low: quantile(costs, 0.1),
            median: quantile(costs, 0.5),
            high: quantile(costs, 0.9),
            loops: costs.length,
          },
          iterationUsd: sumOf(costs) / sumOf(priced.map(({ iterations }) => iterations)),
        }
      : {}),
  }
}
