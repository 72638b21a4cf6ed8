/** The board: reads from the server that serves it. */
import { render } from 'preact'
import { createClient } from '../src/fronts/server/client.ts'
import { App, SignIn } from './app.tsx'
import { impatientFetch } from './data/impatient.ts'
import { startLive, watchSleep } from './data/live.ts'
import { go, route, watchRoute } from './data/route.ts'
import { useSource } from './data/source.ts'
import { takeToken } from './data/token.ts'
import { listenToKeys } from './parts/keys.tsx'
import './parts/settings.ts'
import { keepReadable } from './readable.ts'
import './style/style.css'

keepReadable()
const root = document.getElementById('app') as HTMLElement
const token = takeToken()
if (token === undefined) render(<SignIn message="This server requires a token." />, root)
else {
  const server = { url: location.origin, token }
  useSource(createClient({ ...server, fetch: impatientFetch }))
  watchRoute()
  listenToKeys()
  if (route.value.path === '/') go('/loops', { replace: true })
  startLive(server)
  watchSleep(() => startLive(server))
  render(<App />, root)
}
