/** Where the page reads from: a server, or the answers recorded in a report. Views know nothing else. */
import type { Recorded } from '../../src/formats/recorded.ts'
import type { Asking, InputOf, LiveMessage, OperationName, OutputOf } from '../../src/fronts/server/client.ts'

export type { InputOf, LiveMessage, OperationName, OutputOf } from '../../src/fronts/server/client.ts'

export type Source = {
  call<Name extends OperationName>(name: Name, input: InputOf<Name>, asking?: Asking): Promise<OutputOf<Name>>
  /** A report: nothing can be changed, and nothing changes. */
  recorded?: Recorded
}

/** `back`: the stream was interrupted, so anything may have happened. */
export type News = { kind: 'message'; message: LiveMessage } | { kind: 'back' }

let source: Source | undefined

export function useSource(given: Source): void {
  source = given
}

export function isRecorded(): boolean {
  return source?.recorded !== undefined
}

export function call<Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  asking?: Asking,
): Promise<OutputOf<Name>> {
  if (!source) throw new Error('no source was set')
  return source.call(name, input, asking)
}

/** A click is carried out once, however often its request is sent. */
export function once(): { key: string } {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return { key: [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') }
}
