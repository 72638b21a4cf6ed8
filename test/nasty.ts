/** Strings that attack or break a layout, and a server with such strings in every field. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commitAll, type Place, until } from './ralph.ts'
import { type Served, serveIn } from './served.ts'

export const SCRIPT = '<script>alert(1)</script>'
const IMAGE = '<img src=x onerror="alert(2);hit=2">'
const VECTOR = '"><svg onload="alert(3);hit=3">'
/** Reverses what follows, up to the end of the paragraph. */
const TURNED = '\u202egnp.evil\u2066'
const ARABIC = 'مرحبا بالعالم'
const LINK = '[open](javascript:hit=4) **bold** `code` # head'
export const WORD: string = 'w'.repeat(10_000)
const COLOURS = '\u001b[31mred\u001b[0m\u001b[2J\u001b[1;1Hmoved\u001b]8;;javascript:hit=5\u0007link\u001b]8;;\u0007'
const CONTROLS = 'nul\u0000bell\u0007back\u0008del\u007fnext\u0085'
const HALF = 'half \ud800 and \udc00'

/** One line without control characters, like titles and names. */
export const LINE: string = [SCRIPT, IMAGE, VECTOR, TURNED, ARABIC, LINK].join(' ')
/** Anything at all. */
export const TEXT: string = [LINE, COLOURS, CONTROLS, HALF, WORD].join('\n')

const CHECK = `echo '${LINE} ${'w'.repeat(500)}'`
const WORK = `work ${IMAGE.replaceAll('/', '')} ${TURNED}`
const FILE = `"><svg onload=hit=6> ${TURNED} ${ARABIC} ${'w'.repeat(120)}.txt`

export type Nasty = { server: Served; asks: string; done: string; task: string; file: string }

/** One loop that asks, one that is done, tasks in every state, a comment and a group. */
export async function serveNasty(place: Place): Promise<Nasty> {
  const [dir, other] = [makeWork(place, WORK), makeWork(place, `other ${WORK}`)]
  writeFileSync(join(place.root, 'output.txt'), TEXT)
  place.write('../check.sh', `#!/bin/sh\ncat '${join(place.root, 'output.txt')}'\ntest -e done.txt\n`, 0o755)
  const server = await serveIn(place)
  const { call } = server
  const common = { prompt: TEXT, until: '../check.sh', type: LINE.slice(0, 100) }
  const done = await call('start_loop', { ...common, dir: other, agent: scripted(place, 'done', DOES_IT) })
  await reach(server, done.loop, 'completed')
  const asks = await call('start_loop', { ...common, dir, agent: scripted(place, 'asks', ASKS) })
  await reach(server, asks.loop, 'needs-input')
  const { files } = await call('get_diff', { loop: asks.loop, iteration: 1, against: 'previous' })
  const comment = { iteration: 1, against: 'previous', path: FILE, side: 'new', line: 1, text: TEXT } as const
  await call('add_comments', { loop: asks.loop, comments: [{ ...comment, text: TEXT.slice(0, 9_000) }] })
  await call('set_group', { project_id: 'nasty', name: LINE.slice(0, 200), repo: dir })
  const task = await createTasks(server, dir)
  return { server, asks: asks.loop, done: done.loop, task, file: files[0]?.path ?? '' }
}

function makeWork(place: Place, name: string): string {
  const dir = join(place.root, name)
  mkdirSync(dir)
  writeFileSync(join(dir, 'README.md'), 'A project.\n')
  commitAll({ dir, env: place.env })
  return dir
}

async function createTasks({ call }: Served, repo: string): Promise<string> {
  const fields = {
    description: TEXT,
    labels: [LINE.slice(0, 100), SCRIPT, 'w'.repeat(100)],
    type: LINE.slice(0, 100),
    stages: [{ name: 'w'.repeat(60), check: CHECK }],
    checks: [CHECK],
    agent: `command:${CHECK}`,
    project_id: 'nasty',
    repo,
  }
  const { id } = await call('create_task', { title: LINE, ...fields })
  for (const status of ['in-progress', 'in-review', 'done', 'cancelled'] as const)
    await call('create_task', {
      title: status === 'done' ? 'w'.repeat(500) : LINE,
      ...fields,
      status,
      depends_on: [id],
    })
  return id
}

const EDITS = [
  { edit: { path: FILE, content: `${LINE}\n${WORD}\n` } },
  { edit: { path: `${SCRIPT.replaceAll('/', '_')}.md`, content: `${COLOURS}\n` } },
]

const DOES_IT = [
  [...EDITS, { text: TEXT }, { shell: ['echo', LINE] }, { denied: LINE }],
  [{ edit: { path: 'done.txt', content: 'Done.\n' } }, { text: `${TEXT}\n<promise>COMPLETE</promise>` }],
]

const ASKS = [
  [...EDITS.map(({ edit }) => ({ edit: { ...edit, content: `Again.\n${edit.content}` } })), { text: TEXT }],
  [{ text: `${TEXT}\n<ask>\n${LINE} ${WORD}\n</ask>` }],
]

function scripted(place: Place, name: string, turns: readonly (readonly object[])[]): string {
  const file = join(place.root, `${name}.json`)
  writeFileSync(file, JSON.stringify({ turns }))
  return `scripted:${file}`
}

async function reach({ call }: Served, loop: string, status: string): Promise<void> {
  await until(`loop to be ${status}`, async () => {
    const found = await call('get_loop', { loop, brief: true })
    return found.status === status
  })
}
