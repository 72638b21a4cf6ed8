/** The page: its built files from a folder, or a short text if it was not built. */
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { isFolder } from '../../host/files.ts'
import { codeOf } from '../../host/plain-words.ts'

export type Assets = { answer(request: Request): Response }

export function openAssets(folder: string): Assets {
  // Only files found at the start are ever read: no path leads out of the folder.
  const files = new Set(isFolder(folder) ? filesIn(folder) : [])
  return {
    answer(request) {
      const path = nameAt(request.url)
      const name = files.has(path) ? path : 'index.html' // the page does its own routing
      if (!files.has(name)) return answerFile(WITHOUT_PAGE, { type: TYPES['.html'] })
      if (name !== path && extname(path) !== '') return noFile()
      const coding = CODINGS.find(({ ending, coding: word }) => files.has(name + ending) && accepts(request, word))
      const bytes = readIfThere(join(folder, name + (coding?.ending ?? '')))
      if (!bytes) return noFile() // removed since: another ralph was installed
      return answerFile(bytes, {
        type: TYPES[extname(name)],
        coding: coding?.coding,
        forever: HASHED.test(name),
      })
    },
  }
}

function noFile(): Response {
  return answerFile('No such file.\n', { type: TYPES['.txt'], status: 404 })
}

function readIfThere(path: string): Buffer<ArrayBuffer> | undefined {
  try {
    return readFileSync(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined
    throw cause
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile()
      ? [
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll('\\', '/'),
        ]
      : [],
  )
}

function nameAt(url: string): string {
  const { pathname } = new URL(url)
  return pathname === '/' ? 'index.html' : pathname.slice(1)
}

/** Files compressed when the page was built. */
const CODINGS = [
  { ending: '.br', coding: 'br' },
  { ending: '.gz', coding: 'gzip' },
]

function accepts(request: Request, coding: string): boolean {
  const accepted = request.headers.get('accept-encoding') ?? ''
  return accepted.split(',').some((one) => one.trim().split(';')[0] === coding && !/;\s*q=0(\.0*)?\s*$/.test(one))
}

/** A name such as `index-B3xk9a_Q.js` always has the same content. */
const HASHED = /-(?=[\w-]*[A-Z\d])[\w-]{8}\.\w+$/

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

type Form = { type: string | undefined; coding?: string | undefined; forever?: boolean; status?: number }

function answerFile(body: string | Buffer<ArrayBuffer>, { type, coding, forever, status = 200 }: Form): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type ?? 'application/octet-stream',
      'cache-control': forever ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: 'accept-encoding',
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    },
  })
}

const WITHOUT_PAGE = `<!doctype html>
<html lang="en">
<title>ralph</title>
<h1>ralph</h1>
<p>This is the ralph server. ralph runs a coding agent in a loop on one task until the task is proven done.</p>
<p>Programs use <code>/api</code>, described by <a href="/openapi.json">openapi.json</a>; agents use <code>/mcp</code>. Both need the token that <code>ralph serve</code> printed.</p>
</html>
`
