/** A forecast in one sentence, and the loops it is based on. */
import { count, ENOUGH_HISTORY } from '../engine/limits.ts'
import type { Alike, Forecast, Standing, Traits } from './forecast.ts'

export function forecastSentence(forecast: Forecast, { done, limit }: Standing): string {
  const { chance, iterations, costUsd } = forecast
  const still = done === 0 ? '' : ' still'
  const within = limit === 0 ? 'complete' : `complete within ${count(limit, 'iteration')}`
  return [
    `${percent(chance.rate)}${still} ${within} (${range(chance)})`,
    ...(iterations
      ? [`half of the loops that complete take up to ${iterations.median}, nine in ten up to ${iterations.p90}`]
      : []),
    ...(costUsd ? [`${usd(costUsd.low)} to ${usd(costUsd.high)}, median ${usd(costUsd.median)}`] : []),
  ].join('; ')
}

/** `34 finished loops in this folder with claude`. */
export function comparedWith({ by, loops }: Alike, traits: Traits): string {
  const words: Readonly<Record<keyof Traits, string>> = {
    dir: 'in this folder',
    agent: `with ${traits.agent}`,
    type: `of type ${traits.type}`,
    size: `of size ${traits.size}`,
  }
  return [count(loops.length, 'finished loop'), ...by.map((trait) => words[trait])].join(' ')
}

/** Why there is no forecast. */
export function noForecast(loops: number, { done }: Standing): string {
  return loops < ENOUGH_HISTORY
    ? `Not enough history: ${count(loops, 'finished loop')}, a forecast needs ${ENOUGH_HISTORY}.`
    : `No earlier loop went beyond iteration ${done}.`
}

/** Nothing is certain. */
function percent(rate: number): string {
  return `${Math.min(99, Math.max(1, Math.round(rate * 100)))}%`
}

function range({ low, high }: { low: number; high: number }): string {
  return `${Math.round(low * 100)}–${Math.round(high * 100)}%`
}

function usd(amount: number): string {
  return `$${amount.toFixed(2)}`
}
