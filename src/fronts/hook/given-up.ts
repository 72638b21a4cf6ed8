/** Whether a client has given up on a turn: some report every failed request, but only the transcript says which was the last. */
import { setTimeout as nap } from 'node:timers/promises'
import { tailOf } from '../../host/tail.ts'
import { type Json, parseJson, word } from './payload.ts'

const TAIL = 1 << 16
const PATIENCE_MS = 5_000

/** The error that ended a Codex turn. Undefined if it ended well or continues: then the next request decides. */
export async function whyGivenUp(path: string, turn: string): Promise<string | undefined> {
  for (let waited = 0; waited < PATIENCE_MS; waited += 50) {
    const end = endOf(path, turn)
    if (end) return word(objectOf(end.error).message)
    await nap(50)
  }
  return undefined
}

function endOf(path: string, turn: string): Json | undefined {
  const lines = tailOf(path, TAIL)
    .split('\n')
    .filter((line) => line.includes('"task_complete"'))
  // The first line of the tail may be incomplete, and so may the last.
  const ends = lines.map((line) => objectOf(parseJson(line)?.payload))
  return ends.findLast(({ type, turn_id: id }) => type === 'task_complete' && id === turn)
}

/** Copilot retries after one second at the earliest. */
const NEXT_TRY_MS = 900

/** The error that ended a Copilot turn soon after a failed request. */
export async function whyFailed(path: string, time: unknown): Promise<string | undefined> {
  for (let waited = 0; waited < NEXT_TRY_MS; waited += 50) {
    const lines = tailOf(path, TAIL).split('\n')
    const errors = lines.flatMap((line) => (line.includes('"session.error"') ? [parseJson(line)] : []))
    const error = errors.findLast((each) => each?.type === 'session.error')
    if (error && Date.parse(String(error.timestamp)) >= Date.parse(String(time)))
      return word(objectOf(error.data).message)
    await nap(50)
  }
  return undefined
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}
