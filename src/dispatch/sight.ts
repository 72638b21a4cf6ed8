/** What the screen of an agent in its pane shows now. */
import { readScreen, type Sight } from '../agents/read-screen.ts'
import type { Pane } from './pane.ts'
import type { Site } from './site.ts'

/** A question that decides nothing is dismissed and ignored. `text`: the screen, if it has already been read. */
export async function sightOf({ tmux }: Site, { kind, tag }: Pane, text?: string): Promise<Sight> {
  if (!kind.screen) return { working: false, input: 'unknown' }
  const seen = readScreen(kind.screen, text ?? (await tmux.screen(tag)))
  if (!seen.close) return seen
  await tmux.press(tag, ...seen.close)
  return { working: seen.working, input: 'unknown' }
}
