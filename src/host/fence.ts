/**
 * The fence of a task on its remote: a ref that names the epoch of the lease under which a worker may push. Every push moves it on
 * from the one that is there, so that a worker whose task was taken over can push nothing any more, however late it comes.
 */
import { WRITER } from './checkpoint.ts'
import { fetchObjects } from './fetch-objects.ts'
import { must, type Repository } from './git.ts'
import type { Calling, Trouble } from './remote-call.ts'
import { type Change, isMissed, pushAll, readRemote } from './remote-refs.ts'
import { maskUrl } from './repo-url.ts'
import { fenceRef, type TaskPlace } from './task-names.ts'

/** Somebody with a younger lease has taken the task over. */
export type Fenced = { kind: 'fenced' }

/** `takes`: it may be the first push of this epoch. */
export type Fencing = TaskPlace & Calling & { epoch: number; takes?: true }

export type RemoteState = ReadonlyMap<string, string>

/**
 * Changes refs of a task, all or none, and only while the fence is this epoch's. `plan` says what to change, by what is there now;
 * it is asked again when that has changed meanwhile. Anything else that it says is what comes of it.
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
    const told = await pushAll(mirror, [...changes, ...fence], fencing)
    if (told.ok) return { kind: 'done' }
    if (!isMissed(told.says)) return told.trouble
  }
  return { kind: 'unreachable', why: `Other workers keep pushing to ${maskUrl(repo)} for loop ${loop}.` }
}

const MOST_TRIES = 5

type Serial = number | 'fenced' | 'moved'

/** The number of the push that this one will be, if it may be made. */
async function nextSerial(mirror: Repository, there: string | undefined, fencing: Fencing): Promise<Serial> {
  const { epoch, takes } = fencing
  if (there === undefined) return takes ? 1 : 'fenced'
  const known = await readFence(mirror, there, fencing)
  if (known === undefined) return 'moved'
  if (known.epoch === epoch) return known.serial + 1
  return takes && known.epoch < epoch ? 1 : 'fenced'
}

/** The serial makes each of them another commit: a ref that would stay as it is would not be compared by the remote. */
async function writeFence(mirror: Repository, { loop, epoch }: Fencing, serial: number): Promise<string> {
  const tree = must(await mirror.ask(['mktree']))
  const message = `ralph: fence of loop ${loop}\n\nepoch: ${epoch}\nserial: ${serial}\n`
  return must(await mirror.ask(['commit-tree', tree, '-F', '-'], { env: WRITER, stdin: message }))
}

/** Undefined: it is not there any more. What is no fence of ralph's is as old as can be. */
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
