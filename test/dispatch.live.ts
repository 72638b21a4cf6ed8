import { claude } from './clients/claude.ts'
import { codex } from './clients/codex.ts'
import { opencode } from './clients/opencode.ts'
import { pi } from './clients/pi.ts'
import { loopSideBySide } from './dispatch-clients.ts'
import { LONG } from './pane-live.ts'

loopSideBySide({ clients: [claude, codex, opencode, pi], limited: 'claude', task: LONG })
