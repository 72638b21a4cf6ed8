/** Help, docs and messages are plain English, in the words of CONTEXT.md. To ban a phrase, add one line to PHRASES. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CommandSpec, printHelp } from '../src/fronts/cli/args.ts'
import { COMMANDS } from '../src/fronts/cli/commands.ts'
import { sourceTexts } from './source-texts.ts'

/** What to avoid (a regular expression, in any case, as whole words), and what to write instead. */
const PHRASES: readonly [avoid: string, write: string][] = [
  ['who works', 'agent'],
  ['of several,? the', 'with several, the'],
  ['the agent shall', 'the agent must'],
  ['best \\(its checks saw\\)', 'fewest failing checks'],
  ['too many words', 'unexpected argument'],
  ['to be had', 'available'],
  ['cannot be had', 'is unavailable'],
  ['makes? (tasks|a task|a project|loops|a loop) of', 'turn … into'],
  ['is told by what', 'is detected from'],
  ['anew', 'again, from scratch'],
  ['(is|are|was) gone on with', 'continues'],
  ['(is|are) away', 'not found, unavailable'],
  ['bring it back', 'mount it, restore it'],
  ['session is free', 'is no longer looping'],
  ['so it is complete', 'all checks pass: complete'],
  ['in vain', 'timed out waiting for'],
  ['an? (line|file|word|row|turn) each', 'one line per …'],
  ['objects? a line', 'one object per line'],
  ['goes on', 'continues'],
  ['go on with', 'continue, resume'],
  ['going on with', 'continuing'],
  ['nobody drives', 'no process is running it'],
  ['(what|which) (came|comes|has come) of', 'the outcome'],
  ['(became|becomes|become) of', 'what happens to'],
  ['as was asked for', 'as requested'],
  ['(tests|files|work|sources|configuration|checks|means|state) of the start', 'original …'],
  ['said it is done', 'claimed done'],
  ['its story:', 'Details:'],
  ['by (hand|the word) of', 'by'],
  ['work trees?', 'worktree'],
  ['under way', 'running, in progress'],
  ['is heard', 'takes effect'],
  ['lies (in|below|beside|there)', 'is in'],
  ['(is|are) here( and |\\.|$)', 'is installed'],
  ['that there (is|are)', 'drop it'],
  ['may be given several times', 'may be repeated'],
  ['several with commas', 'comma-separated'],
  ['may spend … a day', '… per day'],
  ['any more', 'any longer, no longer'],
  ['one and the same', 'the same'],
  ['(is|are) taken up', 'is picked up, resumed'],
  ['lets go', 'releases'],
  ['whoever reads along', 'readers'],
  ['(are|is) (not )?here yet', 'is not installed yet'],
]

/** A plural behind a number that may be 1. The contract of the task API has "Task reached maximum 1 iterations". */
const COUNTED =
  /(?<!reached maximum )\$\{(?![A-Z_]+\})([^{}]+)\} (iteration|task|loop|turn|worker|attempt|check)s\b(?! in a row)/g

/**
 * Every term that CONTEXT.md says to avoid. `true`: never used. A regular expression: used only so. Words: what else it means
 * in these texts, so that it is not looked for.
 */
const AVOIDED: Readonly<Record<string, true | RegExp | string>> = {
  job: /pg-boss job|\b(fetch(es)?|settles?|gives?) (the|a) job|its job|lease and job/,
  run: 'a verb everywhere, and the run of an experiment',
  session: "an agent's own conversation",
  call: 'of a function or a model',
  event: 'of a server or a store',
  action: 'of a vault',
  command: 'what one types',
  reduce: /\.reduce\(/,
  transition: true,
  signal: 'of an operating system',
  gate: /Gate on|hook\.sh/,
  verifier: /verifier-broken/,
  result: 'the outcome of anything else',
  phase: true,
  milestone: true,
  confidence: /confidence interval/,
  score: /mutation scores/,
  fixtures: 'test data, in a list of the means of proof',
  cheated: true,
  waive: true,
  approve: 'a vault has approvals',
  attestation: true,
  error: 'of any other thing',
  config: 'a file',
  state: 'of any other thing',
  executor: true,
  model: 'of an agent',
  runner: 'of tests',
  options: 'of a command',
  endpoint: true,
  tool: 'of MCP, or another program',
  backup: 'of a database',
  revert: 'what an agent does to its own changes',
  reset: 'of a rate limit, the breaker or a field',
  sandbox: '--sandbox',
  warning: 'of any other thing',
  log: 'a file of another program',
  dashboard: true,
  UI: true,
  sparkline: true,
  notification: 'of a desktop or browser',
  alert: true,
  credential: /credential helper|these credentials/,
  trial: true,
  active: 'in the file of a session',
  ticket: true,
  story: 'of a loop; user stories in prd.json',
  kanban: /vibe-kanban/,
  project: 'a folder with a spec, or whatever the user works on',
  pending: 'a stored status of tasks',
  node: 'Node',
  cluster: true,
  tenant: true,
  requirements: 'of a project',
  capabilities: true,
  seat: true,
  dispatch: 'ralph dispatch',
  tag: 'a promise tag, a git tag',
  quota: true,
  evict: true,
  scope: 'of an installation, or out of scope',
  prefetch: true,
  note: 'a file of a vault',
  branch: 'of git',
  export: 'a keyword in samples of code',
  inbox: true,
  workspace: true,
  client: 'the program of an agent or a protocol',
  report: 'a page to share',
  window: 'of a desktop',
  tab: 'of a browser, or the character',
  council: true,
  supervisor: 'in not-doing.md',
  message: 'of a person or a program',
  acknowledgement: true,
  artefact: /\.artefacts/,
  integration: /integration (branch|tests)/,
  clone: 'of git',
  lock: 'of a file or database',
  steal: true,
  failover: true,
  setup: 'a command that prepares a folder',
}

type Text = { place: string; text: string; isCode?: boolean }

const filesIn = (folder: string, name: RegExp) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file) && !/fixtures|node_modules|\.test\.|test-support|\.live\./.test(file))
    .map((file) => `${folder}/${file}`)

const help = Object.values(COMMANDS)
  .flatMap(({ spec, verbs = {} }): CommandSpec[] => [spec, ...Object.values(verbs)])
  .flatMap((spec) => linesOf(`ralph help ${spec.name}`, printHelp(spec)))

const PAGES = [
  ...['README.md', 'AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...readdirSync('docs').flatMap((name) => (/(?<!^cli)\.md$/.test(name) ? [`docs/${name}`] : [])),
  ...filesIn('plugins', /\.(md|toml)$/),
  ...filesIn('templates', /\.md$/),
]
const pages = PAGES.flatMap((file) => linesOf(file, readFileSync(file, 'utf8')))

/** Sentences that were stored by older versions, or that others compare. */
const STORED = ['src/engine/upgrade.ts', 'src/operations/statement.ts']

const sources = [...filesIn('src', /\.ts$/), ...filesIn('web', /\.tsx?$/), ...filesIn('plugins', /\.js$/)].map(
  (file) => [file, readFileSync(file, 'utf8')] as const,
)
const literals = sources.flatMap(([file, source]) =>
  sourceTexts(source, { jsx: file.endsWith('x') }).map((found) => ({ file, source, ...found })),
)
const messages = literals
  .filter(({ file }) => !STORED.includes(file))
  .filter(({ text }) => /[a-z] [a-z]/i.test(text) && !/^SELECT |\bgetopts\b|\bvagrant\b/.test(text)) // lists for programs
  .map(({ file, line, text }): Text => ({ place: `${file}:${line}`, text }))

function linesOf(place: string, text: string): Text[] {
  let isCode = false
  return text.split('\n').map((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    return { place: `${place}:${at + 1}`, text: line, isCode }
  })
}

const KINDS: readonly [kind: string, texts: Text[]][] = [
  ['help', help],
  ['docs', pages],
  ['messages', messages],
]

test.each(KINDS)('%s: no phrase that PHRASES lists', (_, texts) => {
  const found = PHRASES.flatMap(([avoid, write]) => {
    const pattern = new RegExp(`(?<![\\w-])(?:${avoid.replaceAll(' ', '\\s+')})(?![\\w-])`, 'i')
    return texts.flatMap(({ place, text }) => {
      const [phrase] = pattern.exec(text) ?? []
      return phrase ? [`${place}: "${phrase}" (write: ${write})`] : []
    })
  })
  expect(found).toEqual([])
})

test.each(KINDS)('%s: no term that CONTEXT.md avoids', (_, texts) => {
  const found = Object.entries(AVOIDED).flatMap(([term, rule]) => {
    if (typeof rule === 'string') return []
    const pattern = new RegExp(`(?<![\\w.-])${term}s?(?![\\w-]|\\.ts)`, term === 'UI' ? '' : 'i')
    return texts.flatMap(({ place, text, isCode }) => {
      if (isCode) return []
      const prose = text.replace(/`[^`]*`|\]\([^)]*\)/g, '')
      const used = pattern.test(prose) && !(rule instanceof RegExp && rule.test(text.replaceAll('*', '')))
      return used ? [`${place}: "${term}"`] : []
    })
  })
  expect(found).toEqual([])
})

test('AVOIDED has every term of CONTEXT.md, and no other', () => {
  const rows = readFileSync('CONTEXT.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| **'))
  const terms = rows
    .flatMap(
      (row) =>
        row
          .split('|')[3]
          ?.replace(/\(.*?\)/g, '')
          .split(/[,;]/) ?? [],
    )
    .flatMap((term) => term.trim() || [])
  expect(terms.length).toBeGreaterThan(60)
  expect(Object.keys(AVOIDED).sort()).toEqual([...new Set(terms)].sort())
})

test('numbers and nouns agree: `count(1, "iteration")`', () => {
  const found = literals.flatMap(({ file, source, raw, line }) => {
    const around = source.split('\n').slice(Math.max(0, line - 6), line + raw.split('\n').length - 1)
    if (/[=!]== 1\b|> 1\b/.test(around.join('\n'))) return []
    return [...raw.matchAll(COUNTED)].map(([text]) => `${file}:${line}: ${text}`)
  })
  expect(found).toEqual([])
})
