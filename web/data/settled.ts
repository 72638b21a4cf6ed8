/** A typed value, once it has not changed for a moment. */
import { useEffect, useState } from 'preact/hooks'

const SETTLE_MS = 300

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [JSON.stringify(value)])
  return settled
}
