/**
 * The scene for the fleet's stress tests: its own Postgres, git remotes on disk, and workers as processes that can be
 * killed.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import type { FleetStore } from '../../src/host/fleet-store.ts'
import { startPostgres, type TestServer } from '../../src/host/postgres/server.test-support.ts'
import { openPostgres } from '../../src/host/postgres/store.ts'

const RALPH = resolve(import.meta.dirname, '../../bin/ralph.cjs')

export type FleetScene = {
  folder: string
  url: string
  postgres: TestServer
  store: FleetStore
  /** A bare repository with one commit on main. */
  remote(name: string): string
  /** A program from these lines of sh. */
  program(name: string, lines: string): string
  start(name: string, args: readonly string[]): Started
  end(): Promise<void>
}

export type Started = { name: string; home: string; child: ChildProcess; out(): string; ended: Promise<unknown> }

/** Its Postgres keeps everything it has confirmed, even when it is killed. */
export async function openScene(settings: Readonly<Record<string, string>> = {}): Promise<FleetScene> {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-fleet-'))
  const postgres = await startPostgres({ fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on', ...settings })
  const client = new Client(postgres.url)
  await client.connect()
  await client.query('CREATE DATABASE fleet')
  await client.end()
  const url = postgres.url.replace(/\/postgres$/, '/fleet')
  const home = join(folder, 'home-of-the-test')
  mkdirSync(home)
  const store = openPostgres({ url, home, now: Date.now }) as FleetStore // like every store in Postgres
  await store.fleet.settings.save({ heartbeat_seconds: 10 })
  const started = new Set<Started>()
  return {
    folder,
    url,
    postgres,
    store,
    remote: (name) => makeRemote(folder, name),
    program(name, lines) {
      const file = join(folder, name)
      writeFileSync(file, `#!/bin/sh\n${lines}\n`)
      chmodSync(file, 0o755)
      return file
    },
    start(name, args) {
      const one = startRalph(folder, name, args)
      started.add(one)
      return one
    },
    async end() {
      for (const { child } of started) for (const signal of ['SIGCONT', 'SIGKILL'] as const) child.kill(signal)
      await Promise.all([...started].map(({ ended }) => ended))
      await store.close()
      await postgres.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function startRalph(folder: string, name: string, args: readonly string[]): Started {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  const log = join(folder, `${name}.log`)
  const env = { PATH: process.env.PATH, HOME: home, RALPH_HOME: join(home, 'ralph'), NO_COLOR: '1' }
  const child = spawn(process.execPath, [RALPH, ...args], { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text
      appendFileSync(log, text)
    })
  return { name, home: join(home, 'ralph'), child, out: () => out, ended: once(child, 'exit') }
}

/** Logs the epoch of every accepted push, in order. */
const NOTE_FENCES = `#!/bin/sh
while read -r old new ref; do
  case $ref in
    refs/ralph/*/fence) echo "$ref $(git cat-file commit "$new" 2>/dev/null | sed -n 's/^epoch: //p')" >> fences.log ;;
  esac
done
`

function makeRemote(folder: string, name: string): string {
  const path = join(folder, `${name}.git`)
  const work = join(folder, `${name}-work`)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder,
      stdio: 'pipe',
    })
  git('init', '--quiet', '--bare', '--initial-branch', 'main', path)
  writeFileSync(join(path, 'hooks', 'post-receive'), NOTE_FENCES, { mode: 0o755 })
  git('clone', '--quiet', path, work)
  writeFileSync(join(work, 'README.md'), `${name}\n`)
  git('-C', work, 'add', '--all')
  git('-C', work, 'commit', '--quiet', '-m', 'start')
  git('-C', work, 'push', '--quiet', 'origin', 'HEAD:main')
  return path
}

/** The epochs of the pushes for each loop, in the order in which they arrived. */
export function epochsIn(repo: string): Map<string, number[]> {
  const epochs = new Map<string, number[]>()
  for (const line of readFileSync(join(repo, 'fences.log'), 'utf8').split('\n')) {
    const [, loop, epoch] = /^refs\/ralph\/(\w+)\/fence (\d+)/.exec(line) ?? []
    if (loop !== undefined) epochs.set(loop, [...(epochs.get(loop) ?? []), Number(epoch)])
  }
  return epochs
}

export function gitIn(repo: string, ...args: string[]): string {
  return execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
}

/** Names of the worktrees (tasks, merges and experiments) that still exist. */
export function leftIn(home: string): string[] {
  return ['worktrees', 'merges', 'tasks', 'empty', 'places'].flatMap((name) => {
    const path = join(home, name)
    return existsSync(path) ? readdirSync(path).map((left) => `${name}/${left}`) : []
  })
}

/** Polls until there is an answer, for a limited time. */
export async function until<Answer>(
  ask: () => Promise<Answer | undefined | false>,
  ms: number,
  what: string,
): Promise<Answer> {
  for (const end = performance.now() + ms; performance.now() < end; await sleep(250)) {
    const answer = await ask().catch(() => undefined)
    if (answer !== undefined && answer !== false) return answer
  }
  throw new Error(`${what}: timed out after ${ms / 1_000} s.`)
}
