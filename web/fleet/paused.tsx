/** Accounts paused by a rate limit: tasks that need them wait. */
import { timeOf } from '../words.ts'
import type { Fleet } from './states.ts'

export function Paused({ accounts }: { accounts: Fleet['accounts'] }) {
  if (accounts.length === 0) return null
  return (
    <ul class="callout amber fleet-paused" aria-label="Paused accounts">
      {accounts.map(({ name, paused_until, why }) => (
        <li key={name}>
          Account <strong>{name}</strong> is paused until <span class="number">{timeOf(paused_until)}</span>
          {why && `: ${why}`}
        </li>
      ))}
    </ul>
  )
}
