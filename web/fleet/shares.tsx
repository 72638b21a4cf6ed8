/** A bar of parts, as wide as their shares of the whole. What it says stands beside it in words. */

export type Part = { name: string; n: number }

/** `whole`: where the parts do not fill it. */
export function Shares({ parts, whole }: { parts: readonly Part[]; whole?: number }) {
  const sum = parts.reduce((total, { n }) => total + n, 0)
  const all = Math.max(whole ?? sum, sum) || 1
  let before = 0
  return (
    <svg class="shares" width="100%" height="8" aria-hidden="true">
      {parts.map(({ name, n }) => {
        const x = before
        before += n
        return (
          n > 0 && <rect key={name} class={`share ${name}`} x={percent(x / all)} width={percent(n / all)} height="8" />
        )
      })}
    </svg>
  )
}

function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}
