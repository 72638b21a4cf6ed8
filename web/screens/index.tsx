/** Maps addresses to screens. */
import type { ComponentChildren } from 'preact'
import { Link } from '../parts/common.tsx'
import { later } from '../parts/later.tsx'
import { AgentsScreen } from './agents.tsx'
import { AnalyticsScreen } from './analytics.tsx'
import { BoardScreen } from './board.tsx'
import { LoopScreen } from './loop.tsx'
import { LoopsScreen } from './loops.tsx'
import { NeedsScreen } from './needs.tsx'
import { PanesScreen } from './panes.tsx'
import { TaskScreen } from './task.tsx'

const FleetScreen = later<{ part: string }>(async () => (await import('./fleet.tsx')).FleetScreen)
const SettingsScreen = later(async () => (await import('./settings.tsx')).SettingsScreen)

export type Screen = { title: string; view: ComponentChildren }

export function screenAt(path: string): Screen {
  const [, place = '', id = ''] = path.split('/').map(decode)
  if (place === 'loops' && id) return { title: `Loop ${id}`, view: <LoopScreen key={id} id={id} /> }
  if (place === 'tasks' && id) return { title: 'Task', view: <TaskScreen key={id} id={id} /> }
  if (place === 'fleet') return { title: 'Fleet', view: <FleetScreen part={id} /> }
  return SCREENS[place]?.() ?? NOWHERE
}

const SCREENS: Readonly<Record<string, () => Screen>> = {
  '': () => ({ title: 'Loops', view: <LoopsScreen /> }),
  loops: () => ({ title: 'Loops', view: <LoopsScreen /> }),
  needs: () => ({ title: 'Needs you', view: <NeedsScreen /> }),
  board: () => ({ title: 'Board', view: <BoardScreen /> }),
  panes: () => ({ title: 'Panes', view: <PanesScreen /> }),
  analytics: () => ({ title: 'Analytics', view: <AnalyticsScreen /> }),
  agents: () => ({ title: 'Agents', view: <AgentsScreen /> }),
  settings: () => ({ title: 'Settings', view: <SettingsScreen /> }),
}

const NOWHERE: Screen = {
  title: 'Not found',
  view: (
    <div class="screen">
      <h1>Page not found</h1>
      <p>
        The address may be old. <Link to="/loops">All loops</Link>
      </p>
    </div>
  ),
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
