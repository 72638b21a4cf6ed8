/**
 * What users do with a loop in a client's own session, and whether it works there: a table in docs/sessions.md, tested
 * by the live tests.
 */

export const SITUATIONS = [
  'promise',
  'limit',
  'refused then proven',
  'cancel',
  'Esc in an answer',
  'Esc in a tool',
  'typed meanwhile',
  'quit and resume',
  '/clear',
  '/compact',
  'two sessions',
  'ask',
  'API error',
  'print modes',
] as const

export type Situation = (typeof SITUATIONS)[number]

/** `passes`, or the client's restriction as a sentence for docs/sessions.md. */
export type Cell = string

export type Row = { title: string; cells: Readonly<Record<Situation, Cell>> }

/** The cells of a client in which everything works. */
const ALL = Object.fromEntries(SITUATIONS.map((situation) => [situation, 'passes'])) as Record<Situation, Cell>

const EXITS_0 = 'exits with 0 however the loop ended; the last line on standard error says how'

const KEPT = 'holds back what you type until the loop ends: press Esc first, or run `ralph cancel` in another terminal'

const STEERED = 'passes what you type to the working agent, and the loop continues: stop the turn first'

/** By the name of the client below `test/clients`. */
export const TABLE: Readonly<Record<string, Row>> = {
  claude: { title: 'Claude Code', cells: { ...ALL, 'print modes': EXITS_0 } },
  codex: { title: 'Codex', cells: { ...ALL, 'print modes': EXITS_0 } },
  gemini: {
    title: 'Gemini',
    cells: {
      ...ALL,
      'typed meanwhile': KEPT,
      'print modes': EXITS_0,
    },
  },
  qwen: { title: 'Qwen', cells: { ...ALL, 'print modes': EXITS_0 } },
  copilot: {
    title: 'Copilot',
    cells: {
      ...ALL,
      'typed meanwhile': STEERED,
      'print modes': EXITS_0,
    },
  },
  droid: {
    title: 'Droid',
    cells: {
      ...ALL,
      'typed meanwhile': STEERED,
      '/compact':
        'calls it `/compress` and puts the summary into a new session: `/ralph:resume LOOP` takes over the loop there',
      'print modes': `${EXITS_0}; the loop starts after the first turn`,
    },
  },
  opencode: {
    title: 'OpenCode',
    cells: {
      ...ALL,
      '/clear':
        'calls it `/new`, and the old session keeps running: `ralph pause LOOP` comes before `/ralph:resume LOOP`',
      'print modes':
        '`opencode run` ends after its first turn, so no loop starts there: ralph says so, and it exits with 1',
    },
  },
  pi: { title: 'Pi', cells: ALL },
}

const [O_ENDS, O_STOPS, O_DAY, O_CLOSED, O_RUN] = [
  'loops on a prompt as typed, until a promise, up to a limit',
  'pauses when the user presses escape or says something else',
  'asks, is stopped in a tool, outlives /compact and an API error',
  'is interrupted when its terminal is closed',
  'says in `opencode run`, which ends with its first turn',
]
const P_DAY = 'a day in a terminal: promise, limit, refusal, Esc in an answer, /compact, another session, an error'

/** Clients whose tests try several situations at once: part of the title of each test, and the files with the tests. */
export const TRIED_IN: Readonly<Record<string, { files: string[]; titles: Readonly<Record<Situation, string>> }>> = {
  opencode: {
    files: ['session-opencode.live.ts'],
    titles: {
      promise: O_ENDS,
      limit: O_ENDS,
      'refused then proven': O_ENDS,
      cancel: O_STOPS,
      'Esc in an answer': O_STOPS,
      'Esc in a tool': O_DAY,
      'typed meanwhile': O_STOPS,
      'quit and resume': O_CLOSED,
      '/clear': O_CLOSED,
      '/compact': O_DAY,
      'two sessions': O_DAY,
      ask: O_DAY,
      'API error': O_DAY,
      'print modes': O_RUN,
    },
  },
  pi: {
    files: ['pi-sitting.ts', 'pi-loops.ts'],
    titles: {
      promise: P_DAY,
      limit: P_DAY,
      'refused then proven': P_DAY,
      cancel: 'cancel in the third iteration',
      'Esc in an answer': P_DAY,
      'Esc in a tool': 'ESC stops it during a tool',
      'typed meanwhile': 'asks what typed text is for',
      'quit and resume': 'found again after a restart',
      '/clear': 'leaving the session pauses the loop',
      '/compact': P_DAY,
      'two sessions': P_DAY,
      ask: 'typed text answers a question of the agent',
      'API error': P_DAY,
      'print modes': 'as JSON: three iterations up to the limit',
    },
  },
}

/** The title of a cell's test. Restrictions are tested as well, so that we notice when a client changes. */
export function titleOf(client: string, situation: Situation): string {
  return `${client} · ${situation}${TABLE[client]?.cells[situation] === 'passes' ? '' : ' (its limit)'}`
}

/** Turns every cell of a client into one or more tests. */
export function eachSituation(client: string, tries: Readonly<Record<Situation, (title: string) => void>>): void {
  for (const situation of SITUATIONS) tries[situation](titleOf(client, situation))
}

/** The table in docs/sessions.md with its footnotes. Clients with the same restriction share a footnote. */
export function printTable(): string {
  const rows = Object.values(TABLE)
  const limits = [...new Set(SITUATIONS.flatMap((situation) => rows.map(({ cells }) => cells[situation])))].filter(
    (cell) => cell !== 'passes',
  )
  const mark = (cell: Cell) => (cell === 'passes' ? '✓' : String(limits.indexOf(cell) + 1))
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return [
    line(['', ...rows.map(({ title }) => title)]),
    `|---|${rows.map(() => ':-:|').join('')}\n`,
    ...SITUATIONS.map((situation) => line([situation, ...rows.map(({ cells }) => mark(cells[situation]))])),
    '\n',
    ...limits.map((limit, index) => `${index + 1}. ${limit[0]?.toUpperCase()}${limit.slice(1)}.\n`),
  ].join('')
}
