/**
 * Repositories inside a repository that its index knows, such as submodules. Anybody may have written their
 * configuration, and git would run the programs it names to see whether their files changed: so only their current
 * commit is ever looked at.
 */
import { type Answer, inBytes } from './git.ts'

type Ask = (args: readonly string[], asking: { env?: Record<string, string>; stdin?: Buffer }) => Promise<Answer>

/** Their paths, one character per byte. */
export async function listGitlinks(ask: Ask, env: Record<string, string> = {}): Promise<string[]> {
  const answer = await ask(['ls-files', '--stage', '-z'], { env })
  if (!answer.ok) return []
  const entries = Buffer.from(answer.out).toString('latin1').split('\0')
  return entries.flatMap((entry) => /^160000 [^\t]*\t(.*)$/s.exec(entry)?.[1] ?? [])
}

/** What `git add` leaves out because of that. */
export function leaveOut(links: readonly string[]): string[] {
  return links.map((path) => `:(exclude,top,literal)${Buffer.from(path, 'latin1').toString('utf8')}`)
}

/** Sets the index to the commits that they are at now. */
export async function updateGitlinks(
  ask: Ask,
  links: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  if (links.length > 0) await ask(['update-index', '--remove', '-z', '--stdin'], { env, stdin: inBytes(links) })
}
