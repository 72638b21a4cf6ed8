/** A story of the demo board: a task, its initial files, and the turns of its scripted agent. */
import type { BoardPatch } from '../../../formats/board-task.ts'
import type { Step } from '../../../formats/script.ts'
import type { Files } from './cart.ts'

export const GROUPS = ['shop', 'billing'] as const
export type GroupId = (typeof GROUPS)[number]

/** The scripted agents. One takes its time, the other is cheap. */
export const AGENTS = ['steady', 'swift'] as const
export type AgentName = (typeof AGENTS)[number]

export type Story = {
  /** A name for tests and screenshots. Stories of the past need none. */
  name?: StoryName
  group: GroupId
  agent: AgentName
  /** How long ago its loop started or, if it never did, its task was created. */
  hoursAgo: number
  task: BoardPatch & { title: string }
  /** Files committed before its loop starts, such as the tests it must make pass. */
  files?: Files
  turns: Step[][]
  /**
   * `todo`: it is never started. `live`: workers run it. `cancel`: it is cancelled when it asks. `drop`: it gives up, and its
   * tests are removed again. Absent: it runs until it stops.
   */
  fate?: 'todo' | 'live' | 'cancel' | 'drop'
  /** The task that must be done first. */
  after?: StoryName
}

export type StoryName =
  | 'verified'
  | 'quick'
  | 'tested'
  | 'kept'
  | 'altered'
  | 'claimed'
  | 'stalled'
  | 'regression'
  | 'crash'
  | 'question'
  | 'allow'
  | 'limited'
  | 'review'
  | 'cancelled'
  | 'live'
  | TodoName

export type TodoName = 'plain' | 'stages' | 'dependent' | 'adaptive' | 'once'

/** A turn: a message, the files it writes, and another message. */
export function works(words: string, files: Files = {}, last?: string): Step[] {
  const edits = Object.entries(files).map(([path, content]): Step => ({ edit: { path, content } }))
  return [{ text: words }, ...edits, ...(last === undefined ? [] : [{ text: last }])]
}

/** A turn that ends by claiming to be done. */
export function claims(words: string, files: Files = {}, last?: string): Step[] {
  const end = last === undefined && Object.keys(files).length === 0 ? words : (last ?? 'The task is done.')
  const claim = `${end}\n<promise>COMPLETE</promise>`
  return end === words ? [{ text: claim }] : works(words, files, claim)
}

/** A turn that mentions the claim without making it, which is enough to run the checks. */
export function mentions(words: string, files: Files): Step[] {
  return works(words, files, `${words}\nI will say <promise>COMPLETE</promise> when every test passes.`)
}

/** A test file: it imports from the module next to it and has one line per test. */
export function suite(module: string, names: string, cases: Readonly<Record<string, string>>): Files {
  const tests = Object.entries(cases).map(([title, assertion]) => `test('${title}', () => ${assertion})\n`)
  const head = `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { ${names} } from './${module}.mjs'\n\n`
  return { [`src/${module}.test.mjs`]: head + tests.join('') }
}

export function source(module: string, text: string): Files {
  return { [`src/${module}.mjs`]: text.replace(/^\n/, '') }
}

const USD_PER_TOKEN: Readonly<Record<AgentName, number>> = { steady: 4.2e-6, swift: 1.3e-6 }

const MOST_READ = 60_000

/** The same turns with made-up costs: the more an agent has said and written, the more it reads in the next turn. */
export function priced(turns: readonly Step[][], agent: AgentName): Step[][] {
  let read = 9_000
  return turns.map((steps) => {
    read = Math.min(MOST_READ, read + 4_000 + 11 * JSON.stringify(steps).length)
    return [{ usage: { tokens: read, costUsd: Number((read * USD_PER_TOKEN[agent]).toFixed(4)) } }, ...steps]
  })
}
