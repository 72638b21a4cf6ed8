/** A report: the same screens, reading from the answers that lie in the file. */
import { render } from 'preact'
import { openRecorded } from './data/recorded.ts'
import { watchRoute } from './data/route.ts'
import { useSource } from './data/source.ts'
import { listenToKeys } from './parts/keys.tsx'
import { Modal } from './parts/modal.tsx'
import './parts/settings.ts'
import { Toasts } from './parts/toast.tsx'
import { AnalyticsScreen } from './screens/analytics.tsx'
import { LoopScreen } from './screens/loop.tsx'
import './style/style.css'

const root = document.getElementById('app') as HTMLElement
void openRecorded().then((source) => {
  useSource(source)
  watchRoute()
  listenToKeys()
  const { recorded } = source
  render(
    <main class="report">
      {recorded?.kind === 'loop' ? <LoopScreen id={recorded.loop} /> : <AnalyticsScreen />}
      <Modal />
      <Toasts />
    </main>,
    root,
  )
})
