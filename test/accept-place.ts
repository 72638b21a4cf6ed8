/** A loop whose work waits to be accepted, in a checkout that also holds the user's own work. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'vitest'
import { carriers, makePlace, onlyLoop, type Place, type Running, until } from './ralph.ts'

/**
 * `forward`: the branch is fast-forwarded. `merge`: it has moved meanwhile, so both are merged. `squash`: as one
 * commit.
 */
export type Way = 'forward' | 'merge' | 'squash'
export const WAYS: readonly Way[] = ['forward', 'merge', 'squash']

/** How many files the work changes. `RALPH_CRASH_FILES=6000` gives a kill more to leave behind. */
export const FILES: number = Number(process.env.RALPH_CRASH_FILES ?? 300)

/** The first of these files that git writes. */
const FIRST = 'many/1.txt'

/** An agent that changes most of the files, removes some, adds others, and turns a file into a folder. */
export const CHANGES_MANY: string = `i=0; for file in many/*; do i=$((i+1)); if [ $((i % 10)) = 7 ]; then rm "$file"; else echo "$file"; fi; done | grep many | xargs sed -i s/old/NEW/
mkdir new; for n in $(seq 1 ${Math.ceil(FILES / 10)}); do echo "NEW $n" > new/$n.txt; done
rm kind && mkdir kind && echo NEW > kind/inside.txt && chmod +x script.sh && ln -s script.sh link`

export function writeMany(place: Place): void {
  git(place, 'config', 'gc.auto', '0') // it would leave its own locks for a while
  mkdirSync(join(place.dir, 'many'))
  const lines = 'an old line, one of many, so that it takes a while to write the file\n'.repeat(100)
  for (let n = 1; n <= FILES; n++) writeFileSync(join(place.dir, 'many', `${n}.txt`), `${n}\n${lines}`)
  place.write('kind', 'old\n')
  place.write('script.sh', 'true\n')
  place.write('edited.txt', 'as committed\n')
  git(place, 'add', '--all', '--', '.', ':!.artefacts')
  git(place, 'commit', '--quiet', '--message', 'Many')
}

export type Waiting = { place: Place; id: string; args: string[]; way: Way }

export async function makeWaiting(way: Way): Promise<Waiting> {
  const place = makePlace()
  writeMany(place)
  const commits = way === 'forward' ? '' : 'git add --all && git commit --quiet --message "The work"'
  const agent = place.agent(`${CHANGES_MANY}\n${commits}\necho "<promise>COMPLETE</promise>"`)
  const ran = await place.ralph(['run', 'Change them.', '--agent', agent, '--worktree'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  if (way !== 'forward') {
    place.write('theirs.txt', 'committed meanwhile\n')
    git(place, 'add', 'theirs.txt')
    git(place, 'commit', '--quiet', '--message', 'Theirs')
  }
  place.write('edited.txt', 'a change that nobody committed\n')
  place.write('untracked.txt', 'a file that git does not know\n')
  const id = onlyLoop(place)
  return { place, id, way, args: ['accept', id, ...(way === 'squash' ? ['--squash'] : [])] }
}

export function git({ dir, env }: Pick<Place, 'dir' | 'env'>, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: dir,
    env: { ...env, GIT_OPTIONAL_LOCKS: '0' },
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 2 ** 28,
  }).replace(/\n$/, '')
}

export type Checkout = { head: string; changes: string[]; left: string[] }

/** What the user sees in their checkout. `left`: locks and marks of an unfinished merge. */
export function checkoutOf(place: Place): Checkout {
  return {
    head: git(place, 'rev-parse', 'HEAD'),
    changes: git(place, 'status', '--porcelain', '--untracked-files=all').split('\n').filter(Boolean),
    left: readdirSync(join(place.dir, '.git')).filter((name) => /\.lock$|^MERGE_|^AUTO_MERGE$/.test(name)),
  }
}

const THEIRS = [' M edited.txt', '?? untracked.txt']

/** All of the work is on the branch, exactly once, and the user's files are as they left them. */
export async function expectAccepted({ place, id, way }: Waiting): Promise<void> {
  const { head, ...checkout } = checkoutOf(place)
  expect(checkout).toEqual({ changes: THEIRS, left: [] })
  expect(place.read('edited.txt')).toBe('a change that nobody committed\n')
  expect(place.read('untracked.txt')).toBe('a file that git does not know\n')
  for (const path of ['many', 'new', 'kind', 'link', 'script.sh'])
    expect(git(place, 'rev-parse', `${head}:${path}`)).toBe(git(place, 'rev-parse', `refs/ralph/${id}/merged:${path}`))
  expect(git(place, 'show', `${head}:${FIRST}`)).toContain('NEW')
  expect(git(place, 'log', '--first-parent', '--format=%s').split('\n')).toEqual(subjectsOf(way, id, place))
  expect(git(place, 'worktree', 'list').split('\n')).toHaveLength(1)
  expect(git(place, 'branch', '--list', 'ralph/*')).toBe('')
  const names = git(place, 'for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph').split('\n')
  expect(names.filter((name) => !/^(\d+|now|merged)$/.test(name))).toEqual([])
  const arrivals = join(place.home, 'arrivals')
  expect((existsSync(arrivals) ? readdirSync(arrivals) : []).filter((name) => !name.includes('.db'))).toEqual([])
  expect(git(place, 'fsck', '--no-dangling', '--no-progress')).toBe('')
  await until('no process is left', () => carriers(`RALPH_LOOP_ID=${id}`).length === 0, 5_000)
}

/** A kill right after the first commit turns what would have been a fast-forward into a merge. */
function subjectsOf(way: Way, id: string, place: Place): string[] {
  const before = ['Many', 'A state']
  if (way === 'squash') return ['Change them.', 'Theirs', ...before]
  if (way === 'merge') return [`Merge branch 'ralph/${id}'`, 'Theirs', ...before]
  const merged = git(place, 'log', '-1', '--format=%p').includes(' ')
  return [merged ? `Merge branch 'ralph/${id}'` : 'Change them.', ...before]
}

/** Polls until git is writing the user's files. False: ralph was faster. */
export async function isHalfWay(place: Place, going: Running): Promise<boolean> {
  let over = false
  const end = () => (over = true)
  going.ended.then(end, end)
  const lock = join(place.dir, '.git', 'index.lock')
  while (!over && !(existsSync(lock) && !readOrNothing(join(place.dir, FIRST)).includes('old'))) await nextTurn()
  return !over
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // git has just removed it, to write it again
  }
}

/** `kill -9` of ralph, and of everything it started if `all`. Other processes keep running. */
export async function kill({ pid, child, ended }: Running, all: boolean): Promise<void> {
  const started = all ? childrenOf(pid) : []
  child.kill('SIGKILL')
  for (const each of started) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // it was faster
    }
  }
  await ended.catch(() => {}) // its last line may be cut off
}

function childrenOf(pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
    return own.flatMap((child) => [child, ...childrenOf(child)])
  } catch {
    return [] // it has ended
  }
}
