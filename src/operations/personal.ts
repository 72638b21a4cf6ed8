/** What tells whose machine this is: the names and folders that a redacted report leaves out. */
import { homedir, hostname, userInfo } from 'node:os'
import type { Loop } from '../engine/loop.ts'
import { type Personal, redactor } from '../formats/redact.ts'
import { realFolder } from '../host/files.ts'
import { mask } from '../host/mask.ts'
import type { Context } from './operation.ts'

/** What is done to every text of a report: secrets are masked, and with `redact` names, addresses and paths are, too. `project`: the folders it is about. */
export function editorIn(
  context: Pick<Context, 'env' | 'home'>,
  { redact, project }: { redact: boolean; project: readonly string[] },
): (text: string) => string {
  return redact ? redactor(personalIn(context, project)) : mask
}

function personalIn({ env, home }: Pick<Context, 'env' | 'home'>, project: readonly string[]): Personal {
  const host = hostname()
  return {
    project: project.flatMap(bothWays),
    ralph: bothWays(home),
    home: [env.HOME, homedir()].flatMap(bothWays),
    user: [env.USER, env.LOGNAME, env.SUDO_USER, userName()].flatMap((name) => name ?? []),
    host: [host, host.split('.')[0] ?? ''],
  }
}

/** Where the loop works, and where it was started. */
export function foldersOf({ spec: { work } }: Loop): string[] {
  return [work.dir, ...(work.worktree ? [work.worktree.path, work.worktree.from] : [])]
}

/** As it is named, and without links on the way to it. */
function bothWays(folder: string | undefined): string[] {
  if (!folder) return []
  try {
    return [folder, realFolder(folder)]
  } catch {
    return [folder] // it is gone, but its name is not
  }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // an account without a name, as in a container
  }
}
