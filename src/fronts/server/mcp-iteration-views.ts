/** Iterations as models read them. Long parts have their own resource. */
import * as z from 'zod'
import { count } from '../../engine/limits.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import type { FoundDiff } from '../../operations/get-diff.ts'
import type { FoundIteration } from '../../operations/get-iteration.ts'
import type { Iteration } from '../../operations/iteration-view.ts'
import type { ListedIterations } from '../../operations/list-iterations.ts'
import { given } from '../../request/given.ts'
import type { View } from './mcp-tool.ts'

const WORDS = 300
const TAIL = 2_000
const PROMPT_CHANGE = 4_000

const row = z.object({
  n: z.number(),
  agent: z.string(),
  end: z.string(),
  claim: z.string(),
  refused: z.string().optional(),
  checks: z.record(z.string(), z.string()),
  findings: z.array(z.string()),
  diff: z.string().optional(),
  tokens: z.number(),
  costUsd: z.number().optional(),
  seconds: z.number(),
  words: z.string(),
})

export const iterationListView: View<ListedIterations> = {
  schema: z.object({ loop: z.string(), iterations: z.array(row), next: z.number().optional() }),
  of: ({ loop, iterations, next }) => ({
    loop,
    iterations: iterations.map((one) => rowOf(one, WORDS)),
    ...given({ next }),
  }),
}

/** With the end of what each failed check printed. */
export const iterationView: View<FoundIteration> = {
  schema: z.object({
    loop: z.string(),
    iteration: row.optional(),
    failures: z.record(z.string(), z.string()),
    promptChange: z.string().optional(),
  }),
  of: ({ loop, row: found, promptChange }) => ({
    loop,
    ...given({ iteration: found && rowOf(found, TAIL) }),
    failures: Object.fromEntries(
      (found?.verdicts ?? []).flatMap(({ check, result, tail }) =>
        result === 'pass' ? [] : [[check, tail.slice(-TAIL)]],
      ),
    ),
    ...given({ promptChange: promptChange === undefined ? undefined : cutTo(promptChange, PROMPT_CHANGE) }),
  }),
}

/** The text only: the version split into lines is for programs. */
export const diffView: View<FoundDiff> = {
  schema: z.object({ loop: z.string(), iteration: z.number(), text: z.string(), note: z.string().optional() }),
  of: ({ loop, iteration, text, note }) => ({ loop, iteration, text, ...given({ note }) }),
}

function rowOf(iteration: Iteration, words: number): z.infer<typeof row> {
  const { n, agent, end, claim, refused, verdicts, findings, diff, tokens, costUsd, durationMs } = iteration
  return {
    n,
    agent,
    end,
    claim,
    checks: Object.fromEntries(verdicts.map(({ check, result }) => [check, result])),
    findings: findings.map((one) => `${one.path}: ${one.words}`),
    tokens,
    seconds: Math.round(durationMs / 1_000),
    words: cutTo(oneLine(iteration.words), words),
    ...given({ refused, costUsd, diff: diff && `${count(diff.files, 'file')}, +${diff.added} −${diff.removed}` }),
  }
}
