/** Loops inside a session of Pi: the newest one that is complete in the registry, and the newest of all. */
import { pi } from './clients/pi.ts'
import { loopsIn } from './pi-loops.ts'
import { newestPi } from './pi-session.ts'
import { sittingIn } from './pi-sitting.ts'

loopsIn(pi, { whole: true })
loopsIn(newestPi, { whole: false })
sittingIn(pi)
sittingIn(newestPi)
