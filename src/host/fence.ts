/**
 * The fence of a task on its remote: a ref that names the epoch of the lease under which a worker may push. Every push
 * moves it on, so a worker whose task was taken over can no longer push anything, however late it tries.
 */
import { WRITER } from './checkpoint.ts'
import { fetchObjects } from './fetch-objects.ts'
import { must, type Repository } from './git.ts'
import type { Calling, Trouble } from './remote-call.ts'
import { type Change, isMissed, pushAll, readRemote } from './remote-refs.ts'
import { maskUrl } from './repo-url.ts'
import { fenceRef, type TaskPlace } from './task-names.ts'

/** A worker with a younger lease has taken over the task. */
export type Fenced = { kind: 'fenced' }

/** `takes`: it may be the first push of this epoch. */
export type Fencing = TaskPlace & Calling & { epoch: number; takes?: true }

export type RemoteState = ReadonlyMap<string, string>

/**
 * Changes refs of a task, all or none, and only while the fence has this epoch. `plan` says what to change, given the
 * current refs; it is called again if they changed in the meantime. Any other value it returns is the result.
 */
export async function pushFenced<Other extends { kind: string }>(
  mirror: Repository,
  fencing: Fencing,
  plan: (refs: RemoteState) => Promise<Change[] | Other>,
): Promise<{ kind: 'done' } | Other | Fenced | Trouble> {
  const { repo, loop } = fencing
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const remote = await readRemote(mirror, fencing)
    if (remote.kind !== 'read') return remote
    const there = remote.refs.get(fenceRef(loop))
    const serial = await nextSerial(mirror, there, fencing)
    if (serial === 'moved') continue
    if (serial === 'fenced') return { kind: 'fenced' }
    const changes = await plan(remote.refs)
    if (!Array.isArray(changes)) return changes
    const isNamed = changes.some(({ ref }) => ref === fenceRef(loop))
    const fence = isNamed ? [] : [{ ref: fenceRef(loop), was: there, to: await writeFence(mirror, fencing, serial) }]
    const answer = await pushAll(mirror, [...changes, ...fence], fencing)
    if (answer.ok) return { kind: 'done' }
    if (!isMissed(answer.says)) return answer.trouble
  }
  return { kind: 'unreachable', why: `Other workers keep pushing to ${maskUrl(repo)} for loop ${loop}.` }
}

const MOST_TRIES = 5

type Serial = number | 'fenced' | 'moved'

/** The number of this push, if it is allowed. */
async function nextSerial(mirror: Repository, there: string | undefined, fencing: Fencing): Promise<Serial> {
  const { epoch, takes } = fencing
  if (there === undefined) return takes ? 1 : 'fenced'
  const known = await readFence(mirror, there, fencing)
  if (known === undefined) return 'moved'
  if (known.epoch === epoch) return known.serial + 1
  return takes && known.epoch < epoch ? 1 : 'fenced'
}

/** The serial makes each fence a different commit: the remote does not compare a ref that would stay the same. */
async function writeFence(mirror: Repository, { loop, epoch }: Fencing, serial: number): Promise<string> {
  const tree = must(await mirror.ask(['mktree']))
  const message = `ralph: fence of loop ${loop}\n\nepoch: ${epoch}\nserial: ${serial}\n`
  return must(await mirror.ask(['commit-tree', tree, '-F', '-'], { env: WRITER, stdin: message }))
}

/** Undefined: it no longer exists. A ref that is not ralph's fence counts as the oldest possible. */
async function readFence(
  mirror: Repository,
  commit: string,
  { repo, loop, ...calling }: Fencing,
): Promise<{ epoch: number; serial: number } | undefined> {
  const read = () => mirror.ask(['cat-file', 'commit', commit])
  let text = await read()
  if (!text.ok) {
    await fetchObjects(mirror, repo, [fenceRef(loop)], { ...calling, loop })
    text = await read()
  }
  if (!text.ok) return undefined
  const { out } = text
  const number = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(out)?.[1] ?? 0)
  return { epoch: number('epoch'), serial: number('serial') }
}
