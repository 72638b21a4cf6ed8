/** Elapsed time that keeps counting. */
import { useEffect, useState } from 'preact/hooks'
import { isRecorded } from '../data/source.ts'
import { duration } from '../words.ts'

export function Elapsed({ since }: { since: number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (isRecorded()) return
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return <span class="number">{duration(now - since)}</span>
}
