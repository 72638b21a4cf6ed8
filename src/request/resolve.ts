/** Resolves a request into the spec of a loop. Precedence: request, environment, wrapped prompt, config, defaults. */

import { estimateIterations } from '../engine/limits.ts'
import type { Limits, Size, Spec } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { parseCommandLine } from '../formats/command-line.ts'
import type { Config } from '../formats/config.ts'
import { globTrouble } from '../formats/glob.ts'
import { unwrapPrompt } from '../formats/wrapped-prompt.ts'
import { findChecks } from '../host/check.ts'
import { markSettings } from '../host/config-trust.ts'
import { guessSize } from './adaptive.ts'
import { CLAIMS, DEFAULTS } from './defaults.ts'
import { given } from './given.ts'
import type { Iterations, LoopRequest, Place } from './request.ts'

export async function resolveSpec(request: LoopRequest, place: Place): Promise<Spec> {
  const { agents = [], stages = [], until, onHalt = 'keep' } = request
  const { promise, signals } = CLAIMS[place.owner?.kind ?? 'person']
  const wrapped = signals.length > 0 ? unwrapPrompt(request.prompt) : undefined
  const prompt = wrapped?.prompt ?? request.prompt
  const asked =
    request.promise ?? wrapped?.promise ?? (signals.length > 0 ? place.config.completion_promise : undefined)
  const own = [...(place.config.completion_signals ?? []), ...(request.signals ?? [])]
  const size = guessSize({ prompt, stages }, place)
  return {
    prompt,
    promise: asked ?? promise,
    // A custom promise replaces the default words that end a loop, except those the user lists.
    signals: signals.length === 0 ? [] : unique([...(asked ? [] : signals), ...own]),
    checks: resolveChecks(request, place),
    until: until !== undefined,
    stages: resolveStages(stages),
    limits: await resolveLimits({ ...request, size }, place, wrapped?.maxIterations),
    ...(request.once ? { once: true as const } : {}),
    ...(agents.length > 1 ? { agents } : {}),
    ...(onHalt === 'keep' ? {} : { onHalt }),
    ...resolveProof(request, place),
    work: { ...resolveWork(request, place), size },
  }
}

/** The config's proof and transcript settings, for loops whose other settings were resolved before. */
export function proofConfig(config: Config): Config {
  const { proof, require, protect, may_change, proof_minutes, proof_setup, worktree_files, transcript_mb } = config
  return given({ proof, require, protect, may_change, proof_minutes, proof_setup, worktree_files, transcript_mb })
}

/** How strong the proof must be, and how it is established. */
function resolveProof(
  request: LoopRequest,
  { dir, config }: Place,
): Pick<Spec, 'proof' | 'require' | 'protect' | 'mayChange'> {
  const { proof = config.proof ?? 'full', require = config.require } = request
  const protect = unique([...(config.protect ?? []), ...(request.protect ?? [])])
  const mayChange = unique([...(config.may_change ?? []), ...(request.mayChange ?? [])])
  for (const glob of [...(config.protect ?? []), ...(config.may_change ?? [])])
    mustBeUsable(dir, glob, 'ralph.config.json or config.yaml: the')
  for (const glob of [...protect, ...mayChange]) mustBeUsable(dir, glob)
  return {
    ...(proof === 'full' ? {} : { proof }),
    ...(require === undefined ? {} : { require }),
    ...(protect.length > 0 ? { protect } : {}),
    ...(mayChange.length > 0 ? { mayChange } : {}),
  }
}

/** Otherwise it would silently match nothing. */
function mustBeUsable(dir: string, glob: string, lead = 'The'): void {
  if (glob.startsWith(`${dir}/`) || glob.split('/').includes('..'))
    throw new RalphError(
      'usage',
      `${lead} glob "${glob}" would match nothing: globs are relative to ${dir} and stay below it. Write it like "test/**".`,
    )
  const trouble = globTrouble(glob)
  if (trouble) throw new RalphError('usage', `${lead} glob "${glob}" ${trouble}. Write it like "test/**".`)
}

function resolveWork(request: LoopRequest, { dir, gitDir, worktree, owner, faces, config }: Place): Spec['work'] {
  const { agents = [], model, proofMinutes = config.proof_minutes, proofSetup = config.proof_setup } = request
  const { sandbox, sandboxAllow = [] } = request
  const settings = markSettings(dir)
  const { baselineMinutes = DEFAULTS.baselineMinutes[owner?.kind ?? 'person'] } = request
  return {
    dir,
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...(gitDir === undefined ? {} : { gitDir }),
    ...(worktree ? { worktree } : {}),
    ...(owner ? { owner } : {}),
    ...(faces ? { faces } : {}),
    agent: agents[0] ?? '',
    agentArgs: request.agentArgs ?? [],
    ...(request.chain ? { chain: request.chain } : {}),
    ...(model === undefined ? {} : { model }),
    ...(request.type === undefined ? {} : { type: request.type }),
    permissions: request.permissions ?? DEFAULTS.permissions,
    ...(sandbox ? { sandbox, ...(sandboxAllow.length > 0 ? { sandboxAllow } : {}) } : {}),
    ...(request.mcp ? { mcp: true } : {}),
    context: request.context ?? DEFAULTS.context,
    silenceMinutes: request.silenceMinutes ?? DEFAULTS.silenceMinutes,
    transcriptMb: config.transcript_mb ?? DEFAULTS.transcriptMb,
    checkMinutes: request.checkMinutes ?? DEFAULTS.checkMinutes,
    // A command that is the task itself is always waited for.
    ...(request.until === undefined ? { baselineMinutes } : {}),
    ...(proofMinutes === undefined ? {} : { proofMinutes }),
    ...(proofSetup === undefined ? {} : { proofSetup }),
    ...(config.worktree_files?.length ? { proofFiles: config.worktree_files } : {}),
  }
}

/** The commands that prove the work. An unparsable one is refused now, not after the first iteration. */
export function resolveChecks(
  { checks, until, stages = [] }: Pick<LoopRequest, 'checks' | 'until' | 'stages'>,
  { dir, config }: Pick<Place, 'dir' | 'config'>,
): string[] {
  const asked = checks && checks.length > 0 ? checks : (config.verify ?? [])
  const all = unique([
    ...asked.flatMap((check) => (check === 'auto' ? foundChecks(dir) : [check])),
    ...(until ? [until] : []),
  ])
  for (const check of [...all, ...stages.flatMap((stage) => stage.check ?? [])]) parseCommandLine(check)
  return all
}

function foundChecks(dir: string): string[] {
  const found = findChecks(dir)
  if (found.length > 0) return found
  throw new RalphError(
    'usage',
    `--verify auto found no check in ${dir} (no test script, Makefile target, pytest, cargo, go, gradle or maven). Name one: --verify "make test".`,
  )
}

function resolveStages(stages: Spec['stages']): Spec['stages'] {
  const twice = stages.find(({ name }, index) => stages.findIndex((other) => other.name === name) !== index)
  if (twice) throw new RalphError('usage', `Stage ${twice.name} is given twice. Give each stage its own name.`)
  return stages
}

/** `wrapped`: the limit named in a wrapped prompt. */
export async function resolveLimits(
  { limits = {}, size }: Pick<LoopRequest, 'limits'> & { size: Size },
  place: Place,
  wrapped?: number,
): Promise<Limits> {
  const { env, config, owner } = place
  const { circuit_breaker: breaker, max_iterations: configured } = config
  const minutes = limits.minutes ?? minutesIn(env) ?? config.timeout_minutes
  const costUsd = limits.costUsd ?? config.max_cost_usd
  const cooldownMinutes =
    limits.cooldownMinutes ?? breaker?.cooldown_minutes ?? DEFAULTS.cooldownMinutes[owner?.kind ?? 'person']
  const overloadMinutes = limits.overloadMinutes ?? config.overload_minutes ?? DEFAULTS.overloadMinutes
  const onLimit = limits.onLimit ?? config.on_limit ?? 'wait'
  const iterations =
    limits.iterations ??
    iterationsIn(env) ??
    wrapped ??
    (configured === 'auto' ? AUTO : configured) ??
    DEFAULTS.iterations
  return {
    ...(typeof iterations === 'number' ? { iterations } : await adaptive(iterations, size, place)),
    noProgress: limits.noProgress ?? breaker?.no_progress_limit ?? DEFAULTS.noProgress,
    sameError: limits.sameError ?? breaker?.same_error_limit ?? DEFAULTS.sameError,
    ...(cooldownMinutes > 0 ? { cooldownMinutes } : {}),
    overloadMinutes,
    ...(onLimit === 'wait' ? {} : { onLimit }),
    ...(minutes === undefined ? {} : { minutes }),
    ...(limits.tokens === undefined ? {} : { tokens: limits.tokens }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

const AUTO: Iterations = { ceiling: DEFAULTS.ceiling }

async function adaptive(
  { ceiling }: { ceiling: number },
  size: Size,
  { history }: Place,
): Promise<Pick<Limits, 'iterations' | 'ceiling'>> {
  return { iterations: estimateIterations(size, (await history?.()) ?? [], ceiling), ceiling }
}

/** `8`, `auto` or `auto:30`; undefined for anything else. */
export function parseIterations(text: string): Iterations | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  const auto = /^auto(?::0*([1-9]\d{0,8}))?$/.exec(text)
  return auto ? { ceiling: Number(auto[1] ?? DEFAULTS.ceiling) } : undefined
}

function iterationsIn({ RALPH_MAX_ITERATIONS: text }: Place['env']): Iterations | undefined {
  if (!text) return undefined
  const found = parseIterations(text)
  if (found !== undefined) return found
  throw new RalphError('usage', `RALPH_MAX_ITERATIONS must be a whole number, auto or auto:N, got "${text}".`)
}

function minutesIn({ RALPH_TIMEOUT_MINUTES: text }: Place['env']): number | undefined {
  if (!text) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text)
  throw new RalphError('usage', `RALPH_TIMEOUT_MINUTES must be a number, got "${text}".`)
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
