/** The commit that stands for an iteration on the branch of its task. */
import { cutTo, oneLine } from '../formats/one-line.ts'
import { type Kept, WRITER } from './checkpoint.ts'
import { must, type Repository } from './git.ts'

export type Iteration = { task: string; title?: string; loop: string; iteration: number; pushed?: string | undefined }

/**
 * Builds on what was pushed before and on the agent's own commits. If one of these already has exactly these files, no
 * new commit is made. The same checkpoint always gives the same commit.
 */
export async function commitIteration(mirror: Repository, kept: Kept, iteration: Iteration): Promise<string> {
  const { pushed } = iteration
  const { head, tree } = kept
  const isNew = head !== undefined && (pushed === undefined || !(await isPart(mirror, head, pushed)))
  const holdsAll = isNew && (pushed === undefined || (await isPart(mirror, pushed, head)))
  const parents = [...(pushed === undefined || holdsAll ? [] : [pushed]), ...(isNew ? [head] : [])]
  const [only] = parents
  if (only !== undefined && parents.length === 1 && (await treeOf(mirror, only)) === tree) return only
  const env = { ...(await identity(mirror)), ...(await dates(mirror, kept.commit)) }
  const how = parents.flatMap((parent) => ['-p', parent])
  return must(await mirror.ask(['commit-tree', tree, ...how, '-F', '-'], { env, stdin: messageOf(iteration) }))
}

async function isPart(mirror: Repository, commit: string, of: string): Promise<boolean> {
  return (await mirror.ask(['merge-base', '--is-ancestor', commit, of])).ok
}

async function treeOf(mirror: Repository, commit: string): Promise<string> {
  return must(await mirror.ask(['rev-parse', '--verify', `${commit}^{tree}`]))
}

/** The author that this worker commits as; ralph if none is configured. */
export async function identity(mirror: Repository): Promise<Record<string, string>> {
  const [name, email] = await Promise.all(
    ['user.name', 'user.email'].map(async (key) => {
      const found = await mirror.ask(['config', '--get', key])
      return found.ok && found.out !== '' ? found.out : undefined
    }),
  )
  const known = { NAME: name ?? WRITER.GIT_AUTHOR_NAME, EMAIL: email ?? WRITER.GIT_AUTHOR_EMAIL }
  const pairs = ['AUTHOR', 'COMMITTER'].flatMap((who) =>
    Object.entries(known).map(([what, value = '']) => {
      const variable = `GIT_${who}_${what}`
      return [variable, process.env[variable] || value]
    }),
  )
  return Object.fromEntries(pairs)
}

async function dates(mirror: Repository, checkpoint: string): Promise<Record<string, string>> {
  const at = must(await mirror.ask(['show', '--no-patch', '--format=%cd', '--date=raw', checkpoint, '--']))
  return { GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at }
}

function messageOf({ task, title, loop, iteration }: Iteration): string {
  const about = title === undefined ? `task ${task}` : cutTo(oneLine(title), 60)
  const trailers = [`Ralph-Task: ${task}`, `Ralph-Loop: ${loop}`, `Ralph-Iteration: ${iteration}`]
  return `${about} (iteration ${iteration})\n\n${trailers.join('\n')}\n`
}
