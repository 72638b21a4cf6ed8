/** Comments on lines of a diff: adding, listing and removing them. */
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import type { DiffFile } from '../formats/parse-diff.ts'
import type { Comment, SentOrder, StoredComment, Telling } from '../host/store.ts'
import { reviewOrder } from '../prompt/review-words.ts'
import { findLoop } from './find-loop.ts'
import { getDiff } from './get-diff.ts'
import type { Context, Operation } from './operation.ts'
import { ownerOf } from './owners.ts'
import { type Steered, sayTo } from './steer.ts'

/** `against`: as in get_diff. `side`: whether `line` refers to the file before or after. */
type Written = Omit<Comment, 'quote' | 'against' | 'side'> & Partial<Pick<Comment, 'against' | 'side'>>

/** `heard`: as for steer. */
export type Commented = {
  loop: string
  heard: Steered['heard']
  session?: string
  how?: string
  comments: StoredComment[]
}

export const addComments: Operation<{ loop: string; comments: Written[] }, Commented> = {
  name: 'add_comments',
  effect: 'write',
  summary: 'Comments on lines of a diff. The next iteration gets all comments in one message.',
  async run(context, { loop: name, comments: written }) {
    const { comments: records, load } = context.store()
    const loop = await load(await findLoop(context, name))
    const comments = await quoted(context, loop.id, written)
    let added: StoredComment[] = []
    if (ended(loop)) {
      added = await records.add(loop.id, comments)
      return { loop: loop.id, heard: 'later', how: `It has ended. ${ownerOf(loop).again(loop)}`, comments: added }
    }
    const tells = (stored: readonly StoredComment[]): SentOrder => ({ by: 'you', order: reviewOrder(stored) })
    const leaves = async () => {
      added = await records.add(loop.id, comments, tells)
    }
    const said = await sayTo(context, loop, { words: written.map(({ text }) => text).join('\n'), leaves })
    return { ...said, comments: added }
  },
}

export const listComments: Operation<{ loop: string }, { loop: string; comments: StoredComment[] }> = {
  name: 'list_comments',
  effect: 'read',
  summary: 'Lists the comments on the diffs of a loop, and which iteration got each one.',
  report: true,
  async run(context, { loop: name }) {
    const loop = await findLoop(context, name)
    return { loop, comments: await context.store().comments.list(loop) }
  },
}

export const removeComment: Operation<{ loop: string; comment: number }, { loop: string; comment: number }> = {
  name: 'remove_comment',
  effect: 'destroy',
  summary: 'Removes a comment that the loop has not seen yet.',
  async run(context, { loop: name, comment }) {
    const loop = await findLoop(context, name)
    const { comments } = context.store()
    const found = (await comments.list(loop)).find(({ id }) => id === comment)
    if (!found)
      throw new RalphError(
        'comment-unknown',
        `Loop ${loop} has no comment ${comment}. list_comments lists all comments.`,
      )
    if (await comments.remove(comment, reviewOrder)) return { loop, comment }
    const when = found.delivered === null ? 'has already received it' : `received it in iteration ${found.delivered}`
    throw new RalphError(
      'loop-state',
      `Comment ${comment} cannot be removed: loop ${found.hearer} ${when}. Say what to do instead: ralph steer ${found.hearer} "…"`,
    )
  },
}

/** Comments that the loop never got because it ended: for the loop that continues its work. */
export function waitingComments(loop: Loop): Telling[] {
  return ended(loop) ? [{ commentsOf: loop.id, tells: (waiting) => ({ by: 'you', order: reviewOrder(waiting) }) }] : []
}

/** With the lines they refer to, which must be in the diff. */
async function quoted(context: Context, loop: string, written: readonly Written[]): Promise<Comment[]> {
  const diffs = new Map<string, DiffFile[]>()
  const comments: Comment[] = []
  for (const [at, { against = 'previous', side = 'new', ...rest }] of written.entries()) {
    const { iteration, path } = rest
    const key = JSON.stringify([iteration, against, path])
    const files = diffs.get(key) ?? (await filesIn(context, { loop, iteration, against, path }))
    diffs.set(key, files)
    const quote = lineIn(files, { path, side, line: rest.line })
    if (quote === undefined) throw notThere(at, { ...rest, side }, files)
    comments.push({ ...rest, against, side, quote })
  }
  return comments
}

type Asked = { loop: string; iteration: number; against: 'previous' | 'start'; path: string }

/** Of one file, however large the whole diff is. */
async function filesIn(context: Context, asked: Asked): Promise<DiffFile[]> {
  return (await getDiff.run(context, { ...asked, limit: 5_000_000 })).files
}

function lineIn(
  files: readonly DiffFile[],
  { path, side, line }: Pick<Comment, 'path' | 'side' | 'line'>,
): string | undefined {
  const file = files.find((each) => each.path === path || (side === 'old' && each.from === path))
  const lines = file?.hunks.flatMap((hunk) => hunk.lines) ?? []
  return lines.find((each) => each[side] === line)?.text
}

function notThere(
  at: number,
  { path, line, side, iteration }: Pick<Comment, 'path' | 'line' | 'side' | 'iteration'>,
  files: readonly DiffFile[],
): RalphError {
  const what = files.length > 0 ? `line ${line} (${side}) of ${path}` : path
  return new RalphError(
    'input-invalid',
    `add_comments: comments[${at}] refers to ${what}, which is not in the diff of iteration ${iteration}. get_diff shows the lines you can comment on.`,
    { field: `comments[${at}].${files.length > 0 ? 'line' : 'path'}` },
  )
}
