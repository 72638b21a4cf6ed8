/** Reports: a page in one file that needs no server, and a summary for a pull request. */
import { createHash } from 'node:crypto'
import { dirname, extname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { RalphError } from '../../error.ts'
import { cutTo, oneLine } from '../../formats/one-line.ts'
import type { Recorded } from '../../formats/recorded.ts'
import { printReport } from '../../formats/report-html.ts'
import { isFolder, readIfThere } from '../../host/files.ts'
import { replacePersonFile } from '../../host/person-file.ts'
import type { AnalyticsFilter } from '../../operations/get-analytics.ts'
import { recordLoop, recordStats } from '../../operations/record-report.ts'
import { summarizeLoop } from '../../operations/summarize-loop.ts'
import { type Args, type Option, usage } from './args.ts'
import type { Context } from './context.ts'
import { printMarkdown } from './markdown-view.ts'

export const REDACT: Option = {
  help: 'remove your user name, folders, host name and e-mail addresses from the report',
}

/** `file`: absent when the report is printed. */
export type Asked = { form: 'page' | 'markdown'; file?: string; redact: boolean }

/** The requested report, if any. */
export function reportIn(args: Args): Asked | undefined {
  const { spec } = args
  const [file, markdown, redact] = [args.text('output'), args.flag('markdown'), args.flag('redact')]
  const offers = 'markdown' in spec.options
  if (file === undefined && !markdown) {
    if (redact) throw usage(spec, `--redact needs -o FILE${offers ? ' or --markdown' : ''}.`)
    return undefined
  }
  const other = ['json', 'csv', 'follow'].find(args.flag)
  if (other) throw usage(spec, `${file === undefined ? '--markdown' : '-o'} cannot be combined with --${other}.`)
  if (file === undefined) return { form: 'markdown', redact }
  const form = FORMS[extname(file).toLowerCase()]
  if (form === 'page' && markdown) throw usage(spec, '--markdown writes FILE.md. For FILE.html, leave it out.')
  if (!form || (form === 'markdown' && !offers))
    throw usage(spec, `The file name must end in .html${offers ? ' or .md' : ''}, got "${file}".`)
  return { form, file, redact }
}

const FORMS: Readonly<Record<string, Asked['form']>> = { '.html': 'page', '.htm': 'page', '.md': 'markdown' }

export async function writeReport(context: Context, loop: string, { form, file, redact }: Asked): Promise<number> {
  if (file !== undefined) mustBeFile(context, file)
  if (form === 'markdown') {
    const text = printMarkdown(await summarizeLoop(context, loop, { redact }))
    if (file === undefined) context.out.write(text)
    else write(context, file, text)
    return 0
  }
  const { title, summary, details } = await recordLoop(context, loop, { version: context.version, redact })
  const packed: { iteration: number; data: string }[] = []
  for await (const detail of details) packed.push({ iteration: detail.iteration, data: pack(detail) })
  writePage(context, file ?? '', { title: `ralph: ${cutTo(oneLine(title), 80)}`, summary, details: packed })
  return 0
}

export async function writeStats(
  context: Context,
  filter: AnalyticsFilter,
  { file = '', redact }: Asked,
): Promise<void> {
  mustBeFile(context, file)
  const summary = await recordStats(context, filter, { version: context.version, redact })
  writePage(context, file, { title: 'ralph: statistics', summary, details: [] })
}

type Page = { title: string; summary: Recorded; details: { iteration: number; data: string }[] }

function writePage(context: Context, file: string, { title, summary, details }: Page): void {
  const [script, css] = [pageFile(context, 'report.js'), pageFile(context, 'report.css')]
  write(
    context,
    file,
    printReport({ title, script, css, hash, summary: pack(summary), details }),
    ' It opens offline in any browser.',
  )
}

/** The page unpacks this. */
function pack(value: unknown): string {
  return gzipSync(JSON.stringify(value)).toString('base64')
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

function pageFile({ root }: Context, name: string): string {
  const text = readIfThere(join(root, 'dist', 'web', name))
  if (text !== undefined) return text
  throw new RalphError(
    'file-unusable',
    `dist/web/${name} is missing from this installation of ralph. Reinstall ralph; in a clone, run \`npm run build\`.`,
  )
}

/** Checked before anything is read. */
function mustBeFile({ cwd }: Context, file: string): void {
  if (!isFolder(dirname(resolve(cwd, file))))
    throw new RalphError('file-unusable', `No such folder: ${dirname(file)}. Create it first, or choose another file.`)
  if (isFolder(resolve(cwd, file)))
    throw new RalphError('file-unusable', `${file} is a folder. Choose another file: -o FILE${extname(file)}`)
}

function write({ cwd, out }: Context, file: string, text: string, more = ''): void {
  const bytes = Buffer.from(text)
  replacePersonFile(resolve(cwd, file), bytes)
  out.write(`Wrote ${file} (${sizeWords(bytes.length)}).${more}\n`)
}

function sizeWords(bytes: number): string {
  return bytes < 999_500 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
