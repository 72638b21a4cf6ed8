/** Loops inside a session of Pi: the newest that the registry has whole, and the newest there is. */
import { pi } from './clients/pi.ts'
import { loopsIn } from './pi-loops.ts'
import { newestPi } from './pi-session.ts'

loopsIn(pi, { whole: true })
loopsIn(newestPi, { whole: false })
