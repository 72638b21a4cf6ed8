/** Loops inside a session of the last Pi for Node 20, which does not ask before it settles. */
import { loopsIn } from './pi-loops.ts'
import { piVersion } from './pi-session.ts'
import { sittingIn } from './pi-sitting.ts'

const old = piVersion('0.74.2')
loopsIn(old, { whole: false })
sittingIn(old)
