/** What a person does with a loop in a client's own session, and whether that client lets it pass: docs/sessions.md shows it, the live tests hold it. */

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

/** `passes`, or what the client does not allow, as a sentence of docs/sessions.md. */
export type Cell = string

export type Row = { title: string; cells: Readonly<Record<Situation, Cell>> }

/** Every cell of a client that ralph can do all of. */
const ALL = Object.fromEntries(SITUATIONS.map((situation) => [situation, 'passes'])) as Record<Situation, Cell>

const EXITS_0 = 'exits with 0 however the loop ended; the last line on standard error tells'

const KEPT = 'keeps what you type until the loop is over: press Esc first, or type `ralph cancel` in another terminal'

const STEERED =
  'hands what you type to the agent at its work, tells ralph nothing, and the loop goes on: stop the turn first'

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
        'is `/compress`, and puts the summary into a new session: `/ralph:resume LOOP` takes the loop over there',
      'print modes': `${EXITS_0}; the loop begins behind the first turn`,
    },
  },
  opencode: {
    title: 'OpenCode',
    cells: {
      ...ALL,
      '/clear':
        'is `/new`, and the old session goes on behind the new one: `ralph pause LOOP` comes before `/ralph:resume LOOP`',
      'print modes':
        '`opencode run` ends with its first turn, so no loop begins there: ralph says so, and it exits with 1',
    },
  },
  pi: { title: 'Pi', cells: ALL },
}

const [O_ENDS, O_STOPS, O_DAY, O_CLOSED, O_RUN] = [
  'loops as it was typed, until a promise, up to a limit',
  'rests when a person presses escape or says something else',
  'asks, is stopped in a tool, outlives /compact and an API error',
  'is interrupted when its terminal is closed',
  'says in `opencode run`, which ends with its first turn',
]
const P_DAY = 'a day in a terminal: promise, limit, refusal, Esc in an answer, /compact, another session, an error'

/** Clients whose tests try several situations at once: a part of the title of the one that tries each, and their files. */
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
      'typed meanwhile': 'asks what a text is for',
      'quit and resume': 'found again after a restart',
      '/clear': 'leaving the session pauses the loop',
      '/compact': P_DAY,
      'two sessions': P_DAY,
      ask: 'a question of the agent is answered by what is typed',
      'API error': P_DAY,
      'print modes': 'as JSON: three iterations up to the limit',
    },
  },
}

/** The title of the test of a cell: a limit is tested, too, so that we notice when a client changes. */
export function titleOf(client: string, situation: Situation): string {
  return `${client} · ${situation}${TABLE[client]?.cells[situation] === 'passes' ? '' : ' (its limit)'}`
}

/** Every cell of a client becomes a test, or several, by what `tries` has for it. */
export function eachSituation(client: string, tries: Readonly<Record<Situation, (title: string) => void>>): void {
  for (const situation of SITUATIONS) tries[situation](titleOf(client, situation))
}

/** The table of docs/sessions.md with its footnotes. Clients that share a limit share a footnote. */
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
