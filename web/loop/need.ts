/** What a loop needs from a person. Opening its screen marks it as read. */
import { useEffect } from 'preact/hooks'
import { anyLoop, useQuery } from '../data/query.ts'
import { call, isRecorded, type OutputOf } from '../data/source.ts'

export type Need = OutputOf<'list_needs'>['needs'][number]

export function useNeed(id: string): Need | undefined {
  const { value, refresh } = useQuery('list_needs', isRecorded() ? undefined : {}, anyLoop)
  const need = value?.needs.find(({ loop }) => loop === id)
  useEffect(() => {
    if (need?.unread) void call('mark_seen', { loop: id, n: need.n }).then(refresh, () => {}) // it stays unread
  }, [need?.n, need?.unread])
  return need
}
