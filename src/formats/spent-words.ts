/** What a loop used, in short: money, or tokens if the cost is unknown. */
import { count } from '../engine/limits.ts'

export function money(usd: number): string {
  return usd === 0 ? '-' : usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`
}

/** `$1.20`, or the tokens if the cost is unknown. */
export function spent({ costUsd = 0, tokens }: { costUsd?: number | undefined; tokens: number }): string {
  return costUsd > 0 || tokens === 0 ? money(costUsd) : tokenWords(tokens)
}

/** `850 tokens`, `12k tokens`, `3.4M tokens`. */
export function tokenWords(tokens: number): string {
  if (tokens < 1_000) return count(Math.round(tokens), 'token')
  // What rounds to 1000k is 1M.
  if (tokens < 999_500) return `${shortened(tokens / 1_000)}k tokens`
  return `${shortened(tokens / 1_000_000)}M tokens`
}

function shortened(amount: number): string {
  return amount < 9.95 ? amount.toFixed(1).replace(/\.0$/, '') : String(Math.round(amount))
}
