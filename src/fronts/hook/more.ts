/** What only some calls of the hook program need, loaded when they do: a person's commands, running checks, a new database. */
import type { Fact, Loop } from '../../engine/loop.ts'
import { openStore } from '../../host/sqlite.ts'
import { type Checking, type CheckNext, checkHand } from '../../run.ts'
import type { Answer } from '../../session/answer.ts'
import type { Asked } from '../../session/begin.ts'
import { runCommand } from '../../session/commands.ts'
import type { CommandName } from '../../session/hosts.ts'
import type { Desk } from '../../session/turn-over.ts'

export { openDatabase } from '../../host/migrate.ts'
export { lastMessage, lastPrompt } from './transcript.ts'

export async function command(desk: Desk, name: CommandName, asked: Asked): Promise<Answer> {
  const store = openStore(desk.home, desk.now)
  try {
    return await runCommand({ ...desk, store: () => store }, name, asked)
  } finally {
    await store.close()
  }
}

/** While checks run the store is watched, so that a cancel from elsewhere ends them. */
export function checker(
  desk: Pick<Desk, 'home' | 'now'>,
  checking: Omit<Checking, 'store'>,
): (loop: Loop, next: CheckNext) => Promise<Fact | undefined> {
  return async (loop, next) => {
    const store = openStore(desk.home, desk.now)
    try {
      return await checkHand({ ...checking, store })(loop, next)
    } finally {
      await store.close()
    }
  }
}
