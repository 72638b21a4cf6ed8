/** The scenes in which a client is recorded: the same for all, and some of its own. */
import type { Request } from '../src/agents/agent.ts'
import type { Client } from './clients.ts'
import { DONE, failure, type Reply } from './model-server.ts'

/** `signal` is sent once the file `begun` is in its folder. */
export type Scene = {
  replies: Reply[]
  request?: Partial<Request>
  env?: Record<string, string | undefined>
  signal?: NodeJS.Signals
}

export function scenesFor(client: Client): Record<string, Scene> {
  const bash = (command: string): Reply => ({ tools: [client.bash(command)] })
  return {
    ok: { replies: [bash('echo hi > f.txt'), DONE] },
    'promise-in-tool': { replies: [bash('echo "<promise>COMPLETE</promise>"'), { text: 'I looked around.' }] },
    empty: { replies: [{ text: '' }] },
    denied: { replies: [bash('touch x.txt'), { text: 'I was not allowed to.' }], request: { permissions: 'ask' } },
    auth: { replies: [failure(401, 'authentication_error', 'invalid x-api-key')] },
    limited: { replies: [failure(429, 'rate_limit_error', 'slow down')] },
    overloaded: { replies: [failure(503, 'overloaded_error', 'Overloaded')] },
    server: { replies: [failure(500, 'api_error', 'Internal server error')] },
    context: { replies: [client.contextFull] },
    killed: { replies: [bash('touch begun; while :; do sleep 1; done')], signal: 'SIGTERM' },
    'bad-flag': { replies: [DONE], request: { extraArgs: ['--no-such-flag'] } },
    ...client.scenes,
  }
}
