/** What identifies the user of this machine: names and folders that a redacted report leaves out. */
import { homedir, hostname, userInfo } from 'node:os'
import type { Loop } from '../engine/loop.ts'
import { type Personal, redactor } from '../formats/redact.ts'
import { realFolder } from '../host/files.ts'
import { mask } from '../host/mask.ts'
import type { Context } from './operation.ts'

/** Applied to every text of a report: masks secrets and, with `redact`, names, addresses and paths. `project`: the folders it covers. */
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

/** As given, and with symlinks resolved. */
function bothWays(folder: string | undefined): string[] {
  if (!folder) return []
  try {
    return [folder, realFolder(folder)]
  } catch {
    return [folder] // deleted, but its name may still appear
  }
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // an account without a name, as in a container
  }
}
