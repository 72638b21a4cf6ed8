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
  // These two are tried in files of their own: session-opencode.live.ts, and pi-sitting.ts with pi-loops.ts.
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
