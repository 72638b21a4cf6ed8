/** Rates with their 95% interval, and how values are distributed. */
import { quantile } from '../engine/limits.ts'

/** `rate` is between `low` and `high` with 95% confidence (Wilson). Undefined for no loops. */
export type Share = { count: number; of: number; rate?: number; low?: number; high?: number }

export function shareOf(count: number, of: number): Share {
  return of === 0 ? { count, of } : { count, of, rate: count / of, ...intervalOf(count / of, of) }
}

export type Interval = { low: number; high: number }

const Z = 1.959_964

/** The Wilson interval: it stays within 0 and 1, and is honest about few loops. */
export function intervalOf(rate: number, of: number): Interval {
  const square = Z * Z
  const middle = rate + square / (2 * of)
  const reach = Z * Math.sqrt((rate * (1 - rate)) / of + square / (4 * of * of))
  const whole = 1 + square / of
  return { low: Math.max(0, (middle - reach) / whole), high: Math.min(1, (middle + reach) / whole) }
}

export type Spread = { loops: number; mean: number; median: number; p90: number }

export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined
  return {
    loops: values.length,
    mean: sumOf(values) / values.length,
    median: quantile(values, 0.5),
    p90: quantile(values, 0.9),
  }
}

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
