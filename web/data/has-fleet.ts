/** Whether this server shares a database with other machines. */
import { useQuery } from './query.ts'

export function useHasFleet(): boolean {
  return useQuery('get_context', {}).value?.fleet === true
}
