/** The sandbox settings: from the request, or else from the config. */
import { RalphError } from '../error.ts'
import type { Config } from '../formats/config.ts'
import { given } from './given.ts'
import type { LoopRequest } from './request.ts'

type Asked = Pick<LoopRequest, 'sandbox' | 'sandboxAllow'>

export function withSandbox<Request extends Asked>(request: Request, config: Config): Request {
  const sandbox = request.sandbox ?? config.sandbox
  if (request.sandboxAllow && !sandbox)
    throw new RalphError(
      'usage',
      '--sandbox-allow has no effect without a sandbox. Add --sandbox, or omit --sandbox-allow.',
    )
  return { ...request, ...given({ sandbox, sandboxAllow: request.sandboxAllow ?? config.sandbox_allow }) }
}
