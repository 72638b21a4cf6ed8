/** A place to run operations in: a folder, a home, and a context. */
import { chmodSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Loop } from '../engine/loop.ts'
import { temporaryFolder } from '../host/place.test-support.ts'
import { databaseOf } from '../host/postgres/postgres.test-support.ts'
import { given } from '../request/given.ts'
import { call } from './call.ts'
import { openContext } from './context.ts'
import { driveLoop } from './drive-loop.ts'
import type { OPERATIONS, OperationName } from './index.ts'
import type { Context } from './operation.ts'
import { SCHEMAS } from './schemas.ts'

type Output<Name extends OperationName> = ReturnType<(typeof OPERATIONS)[Name]['run']>

export type OperationPlace = {
  context: Context
  cwd: string
  notes: string[]
  /** Calls an operation like an outside program; the answer must match its schema. */
  run<Name extends OperationName>(name: Name, input: object): Output<Name>
  drive(loop: string): Promise<Loop>
  /** An agent from a shell snippet. */
  agent(lines: string): string
}

/** Operations that the tests of this file have run. */
export const ran: Set<string> = new Set()

export function openPlace({
  cwd = temporaryFolder(),
  home = temporaryFolder(),
  database = databaseOf(home).database,
}: {
  cwd?: string
  home?: string
  database?: string | undefined
} = {}): OperationPlace {
  const env = { PATH: process.env.PATH, HOME: home }
  const notes: string[] = []
  const context = openContext({
    root: resolve(import.meta.dirname, '../..'),
    home,
    cwd: () => cwd,
    env,
    ...given({ database }),
    note: (text) => void notes.push(text),
  })
  onTestFinished(() => context.close())
  return {
    context,
    cwd,
    notes,
    run<Name extends OperationName>(name: Name, input: object) {
      ran.add(name)
      // The output must match its schema.
      return call(context, name, input).then((output) => {
        expect(SCHEMAS[name].output.parse(output)).toEqual(output)
        return output
      }) as Output<Name>
    },
    drive(loop) {
      const silent = { begin: () => {}, show: () => {}, say: () => {}, saw: () => {} }
      return driveLoop(context, loop, { stop: new AbortController().signal, ...silent })
    },
    agent(lines) {
      const file = join(home, 'agent.sh')
      writeFileSync(file, `#!/bin/sh\ncat > /dev/null\n${lines}\n`)
      chmodSync(file, 0o755)
      return `command:${file}`
    },
  }
}
