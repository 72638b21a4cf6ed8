/** A fleet for tests: a real Postgres, real git remotes on disk, and workers in this process, each with its own home. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Submitting, submissionOf } from '../fleet/submit.ts'
import type { FleetTask } from '../formats/fleet-task.ts'
import type { FleetStore } from '../host/fleet-store.ts'
import { askGit, must } from '../host/git.ts'
import { eventually, temporaryFolder } from '../host/place.test-support.ts'
import { dropDatabase, testDatabase } from '../host/postgres/postgres.test-support.ts'
import { openPostgres } from '../host/postgres/store.ts'
import { openContext } from './context.ts'
import { type Working, workForFleet } from './fleet-worker.ts'
import type { Beats, Context } from './operation.ts'

export type TestFleet = {
  url: string
  store: FleetStore
  context: Context
  /** A bare repository with these files on its branch main. */
  remote(files?: Record<string, string>): Promise<string>
  /** An agent from a shell snippet. `reads`: what it does with its prompt. */
  agent(lines: string, reads?: string): string
  submit(...tasks: (Partial<Submitting> & { prompt: string })[]): Promise<FleetTask[]>
  worker(options?: Partial<Working>): TestWorker
  /** The task once it is in one of these states. */
  reaches(id: string, ...states: FleetTask['state'][]): Promise<FleetTask>
}

export type TestWorker = { id: string; home: string; said: string[]; drain(): void; stop(): void; ended: Promise<void> }

/** `urls`: the database URL of each worker; absent: a new database. */
export async function openFleet(urls?: { submitter: string; worker: string }): Promise<TestFleet> {
  const url = urls?.submitter ?? (await testDatabase())
  const folder = temporaryFolder()
  const open = (home: string, at: string, beats: Beats = {}): { context: Context; store: FleetStore } => {
    mkdirSync(home, { recursive: true })
    const env = { PATH: process.env.PATH, HOME: home }
    const root = resolve(import.meta.dirname, '../..')
    const context = openContext({ root, home, cwd: () => home, env, note: () => {} })
    const beat = (loop: string) => void beats.onBeat?.(loop).catch(() => {})
    const store = openPostgres({ url: at, home, now: context.now, leaseMs: 3_000, beat }) as FleetStore
    onTestFinished(() => store.close())
    return { context: Object.assign(context, { store: () => store }), store }
  }
  if (!urls) onTestFinished(() => dropDatabase(url))
  const { context, store } = open(join(folder, 'submitter'), url)
  let made = 0
  return {
    url,
    store,
    context,

    async remote(files = { 'a.txt': 'a\n' }) {
      const path = join(folder, `remote-${++made}`)
      for (const args of [['init', '--quiet', '--bare', '--initial-branch', 'main', path]])
        must(await askGit(folder, args))
      const work = `${path}-work`
      must(await askGit(folder, ['clone', '--quiet', path, work]))
      for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text)
      must(await askGit(work, ['add', '--all']))
      must(await askGit(work, ['-c', 'user.name=t', '-c', 'user.email=t@t', 'commit', '--quiet', '-m', 'start']))
      must(await askGit(work, ['push', '--quiet', 'origin', 'HEAD:main']))
      return path
    },

    agent(lines, reads = 'cat > /dev/null') {
      const file = join(folder, `agent-${++made}.sh`)
      writeFileSync(file, `#!/bin/sh\n${reads}\n${lines}\n`)
      chmodSync(file, 0o755)
      return `command:${file}`
    },

    async submit(...tasks) {
      const all = await Promise.all(tasks.map((task) => submissionOf({ submitter: 'ada', ...task }, Date.now())))
      await store.fleet.submit(all)
      return all.map(({ task }) => task)
    },

    worker(options = {}) {
      const home = join(folder, `worker-${++made}`)
      const [drain, stop] = [new AbortController(), new AbortController()]
      const beats: Beats = {}
      const id = `worker-${made}`
      const said: string[] = []
      const ended = workForFleet(open(home, urls?.worker ?? url, beats).context, {
        ...{ id, host: 'here', version: '0.1.0', labels: [], concurrency: 2, beats },
        agents: new Map([['command', 'command']]),
        ...{ drain: drain.signal, stop: stop.signal },
        say: (text, task) => {
          if (process.env.TALK) console.log(text)
          said.push(task ? `${task.id}: ${text}` : text)
        },
        ...options,
      })
      onTestFinished(async () => {
        stop.abort()
        await ended
      })
      return { id, home, said, ended, drain: () => drain.abort(), stop: () => stop.abort() }
    },

    reaches: (id, ...states) =>
      eventually(async () => {
        const task = await store.fleet.load(id)
        return task && states.includes(task.state) ? task : undefined
      }),
  }
}
