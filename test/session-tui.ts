/** Queries about a loop inside an agent's own session: its state, its outcome, and whether the session still loops. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Line, type Place, query, until } from './ralph.ts'
import type { Terminal } from './tmux.ts'

/** Text that programs between a user and a model might interpret. */
export const HOSTILE =
  'Keep "this" and it\'s $(touch PWNED) `touch PWNED` !`touch PWNED` !{touch PWNED} @{README.md} @README.md $ARGUMENTS $1 {{args}} \\n ---'

/** The newest loop of a place, from `ralph status --json`. */
export async function loopOf(place: Place): Promise<Line> {
  const { lines } = await place.ralph(['status', '--json'])
  return lines[0] ?? {}
}

/** Waits until the newest loop of a place has this state. */
export async function stands(place: Place, status: string, terminal: Terminal, withinMs = 40_000): Promise<void> {
  const last = () => (existsSync(join(place.home, 'ralph.db')) ? query(place, LAST)[0]?.status : undefined)
  await until(`the loop to be ${status}`, () => last() === status, withinMs).catch((cause) => {
    throw new Error(`It is ${last()}.\n${terminal.screen()}`, { cause })
  })
}

const LAST = 'SELECT status FROM loop ORDER BY rowid DESC LIMIT 1'

/** What happened to the newest loop, fact by fact: `turned`, `checked fail`, `told pause`. */
export async function historyOf(place: Place): Promise<string[]> {
  const { lines } = await place.ralph(['show', '--json'])
  return lines.map(({ fact }) => {
    const { kind, order, verdicts } = fact as Facts
    return [kind, order?.kind, ...(verdicts ?? []).map(({ result }) => result)].filter(Boolean).join(' ')
  })
}

type Facts = { kind: string; order?: { kind: string }; verdicts?: { result: string }[] }

/** The prompt as stored in the newest loop. */
export function promptOf(place: Place): unknown {
  return query(place, "SELECT json_extract(spec, '$.prompt') AS prompt FROM loop ORDER BY rowid DESC LIMIT 1")[0]
    ?.prompt
}

/** Nothing of a loop is left in the session, and no text was executed. */
export function expectSessionReleased(place: Place, folder: string): void {
  expect(readdirSync(join(place.home, 'armed'))).toEqual([])
  expect(existsSync(join(place.dir, folder, 'ralph-loop.local.md'))).toBe(false)
  expect(existsSync(join(place.dir, 'PWNED'))).toBe(false)
}
