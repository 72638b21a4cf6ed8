/** A stacked bar; the same numbers are next to it as text. */

export type Part = { name: string; n: number }

/** `whole`: given if the parts do not fill the bar. */
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
