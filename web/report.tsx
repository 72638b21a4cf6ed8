/** A report: the same screens, reading from the answers recorded in the file. */
import { render } from 'preact'
import type { Recorded } from '../src/formats/recorded.ts'
import { openRecorded } from './data/recorded.ts'
import { watchRoute } from './data/route.ts'
import { useSource } from './data/source.ts'
import { helpShown, KeysHelp, listenToKeys, useShortcuts } from './parts/keys.tsx'
import { Toasts } from './parts/toast.tsx'
import { keepReadable } from './readable.ts'
import { AnalyticsScreen } from './screens/analytics.tsx'
import { LoopScreen } from './screens/loop.tsx'
import { timeOf } from './words.ts'
import './style/style.css'

function Report({ recorded }: { recorded: Recorded }) {
  useShortcuts(KEYS)
  return (
    <>
      <main class="report">{recorded.kind === 'loop' ? <LoopScreen id={recorded.loop} /> : <AnalyticsScreen />}</main>
      <footer class="report-foot muted">
        Made by ralph {recorded.version}, {timeOf(recorded.made_at)}. {recorded.note} It shows the state at that time.
      </footer>
      <KeysHelp />
      <Toasts />
    </>
  )
}

const KEYS = [
  {
    keys: '?',
    words: 'Keyboard shortcuts',
    run: () => {
      helpShown.value = true
    },
  },
]

keepReadable()
void openRecorded().then((source) => {
  useSource(source)
  watchRoute()
  listenToKeys()
  if (source.recorded) render(<Report recorded={source.recorded} />, document.getElementById('app') as HTMLElement)
})
