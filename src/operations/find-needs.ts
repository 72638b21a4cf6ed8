/** Which loops need a person now. */
import type { NeedingLoop } from '../host/store.ts'
import { attendanceOf } from './attendance.ts'
import type { Context } from './operation.ts'

/** Loops that stopped early longer ago than this count as abandoned. */
const RECENT_MS = 7 * 24 * 3_600_000

export type Needing = Omit<NeedingLoop, 'why' | 'seen'> & {
  why: 'asks' | 'stuck' | 'review' | 'unattended'
  unread: boolean
}

/** Unread first, then newest first. */
export async function findNeeds(context: Pick<Context, 'home' | 'store' | 'now'>): Promise<Needing[]> {
  const found = await context.store().needing(context.now() - RECENT_MS)
  const needs = await Promise.all(found.map((one) => needOf(context, one)))
  return needs.flat().sort((one, other) => Number(other.unread) - Number(one.unread) || other.at - one.at)
}

async function needOf(context: Pick<Context, 'home' | 'store'>, loop: NeedingLoop): Promise<Needing[]> {
  const { why, seen, ...rest } = loop
  const unread = loop.n > seen
  if (why !== 'under-way') return [{ ...rest, why, unread }]
  const { unattended } = await attendanceOf(context, { id: loop.loop, status: loop.status })
  return unattended ? [{ ...rest, why: 'unattended', unread }] : []
}
