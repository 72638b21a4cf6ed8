/** A server in its own place, and requests to it of any form, including forms that no browser would send. */
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { temporaryFolder } from '../../host/place.test-support.ts'
import { databaseOf } from '../../host/postgres/postgres.test-support.ts'
import type { ServerFile } from '../../host/server-file.ts'
import { type Serving, serve } from './serve.ts'

const ROOT = resolve(import.meta.dirname, '../../..')

export type Asked = { method?: string; headers?: Record<string, string | string[]>; body?: string | Buffer }
export type Answered = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

export type TestServer = ServerFile & {
  home: string
  cwd: string
  port: number
  notes: string[]
  /** With the token. */
  ask(path: string, asked?: Asked): Promise<Answered>
  /** As it is. */
  send(path: string, asked?: Asked): Promise<Answered>
  stop(): Promise<void>
}

/** It ends with the test. */
export async function openServer(options: Partial<Serving> = {}): Promise<TestServer> {
  const server = await startServer(options)
  onTestFinished(server.stop)
  return server
}

export async function startServer(options: Partial<Serving> = {}): Promise<TestServer> {
  const home = options.env?.RALPH_HOME ?? join(temporaryFolder(), 'home')
  const cwd = options.cwd ?? temporaryFolder()
  const notes: string[] = []
  const stop = new AbortController()
  const started = Promise.withResolvers<ServerFile>()
  const served = serve({
    root: ROOT,
    version: '1.2.3',
    env: { PATH: process.env.PATH, RALPH_HOME: home, HOME: home },
    ...databaseOf(home),
    cwd,
    host: '127.0.0.1',
    port: 0,
    allowHosts: [],
    concurrency: 2,
    newToken: false,
    stop: stop.signal,
    ready: started.resolve,
    note: (text) => void notes.push(text),
    ...options,
  })
  const file = await Promise.race([started.promise, served.then(() => Promise.reject(new Error('It has ended.')))])
  const end = async () => {
    stop.abort()
    await served
  }
  const port = Number(new URL(file.url).port)
  const send = (path: string, asked?: Asked) => sendTo({ host: options.host ?? '127.0.0.1', port, path }, asked)
  const ask = (path: string, { headers = {}, ...asked }: Asked = {}) =>
    send(path, { ...asked, headers: { authorization: `Bearer ${file.token}`, ...headers } })
  return { ...file, home, cwd, port, notes, send, ask, stop: end }
}

type Target = { host: string; port: number; path: string }

function sendTo({ host, port, path }: Target, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answered> {
  return new Promise((answer, fail) => {
    const going = request({ host, port, path, method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => answer({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    going.on('error', fail)
    going.end(body)
  })
}
