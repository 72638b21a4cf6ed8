/** What the screen of an agent in its pane tells just now. */
import { readScreen, type Sight } from '../agents/read-screen.ts'
import type { Pane } from './pane.ts'
import type { Site } from './site.ts'

/** A question that decides nothing is closed, and was none. `text`: the screen, where it has been read already. */
export async function sightOf({ tmux }: Site, { kind, tag }: Pane, text?: string): Promise<Sight> {
  if (!kind.screen) return { working: false, input: 'unknown' }
  const seen = readScreen(kind.screen, text ?? (await tmux.screen(tag)))
  if (!seen.close) return seen
  await tmux.press(tag, ...seen.close)
  return { working: seen.working, input: 'unknown' }
}
