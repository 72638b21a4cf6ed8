/** Reports as people without a server see them: one HTML file, or Markdown for a pull request. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer, Recorded, RecordedDetail } from '../src/formats/recorded.ts'
import { commitAll, makePlace, onlyLoop, type Place } from './ralph.ts'

const KEY = `ghp_${'Ab3dEf6hIj9lMn2pQr5tUv8xYz1b'}`
const CLAIM = '<promise>COMPLETE</promise>'

let place: Place

/**
 * Claims, is refused, and is done in the second iteration. Its text and files would do harm in a page or a pull
 * request.
 */
beforeAll(async () => {
  place = makePlace()
  place.env.USER = 'zaphod'
  place.write('check.sh', 'cat note.txt; test -e done.txt\n')
  commitAll(place)
  const said = `</template></script><script>alert(1)</script> @zaphod [x](https://evil.org) in ${place.dir}, me@example.org`
  const agent = place.script([
    [{ edit: { path: 'note.txt', content: '```\n</details>\n@everyone\n' } }, { text: `${said} ${CLAIM}` }],
    [{ edit: { path: 'done.txt', content: `${KEY}\n` } }, { usage: { tokens: 9, costUsd: 0.5 } }, { text: CLAIM }],
  ])
  const asked = ['Make it <b>pass</b>', '--agent', agent, '--verify', 'sh check.sh']
  expect((await place.ralph(['run', ...asked])).code).toBe(0)
})

type Opened = { html: string; summary: Recorded; details: Map<number, RecordedDetail> }

/** How a browser parses it. */
function open(name: string): Opened {
  const html = readFileSync(join(place.dir, name), 'utf8')
  const templates = [...html.matchAll(/<template id="([^"]*)" data-encoding="gzip\+base64">([^<]*)<\/template>/g)]
  const unpacked = templates.map(
    ([, id = '', data = '']) => [id, JSON.parse(gunzipSync(Buffer.from(data, 'base64')).toString())] as const,
  )
  const summary = unpacked.find(([id]) => id === 'summary')?.[1] as Recorded
  const details = unpacked
    .filter(([id]) => id.startsWith('detail-'))
    .map(([id, value]) => [Number(id.slice(7)), value] as const)
  return { html, summary, details: new Map(details) }
}

function answerOf(answers: readonly Answer[] | undefined, key: string): unknown {
  return answers?.find((answer) => answer.key === key)?.value
}

describe('a loop as a page', () => {
  test('contains the answers that its page asks for', async () => {
    const { code, stdout } = await place.ralph(['show', '-o', 'report.html'])
    const { html, summary, details } = open('report.html')
    const kb = Math.ceil(statSync(join(place.dir, 'report.html')).size / 1_000)
    expect([code, stdout]).toEqual([0, `Wrote report.html (${kb} KB). It opens offline in any browser.\n`])
    expect(html).toContain('<title>ralph: Make it &#60;b&#62;pass&#60;/b&#62;</title>')
    const loop = onlyLoop(place)
    expect(summary).toMatchObject({ kind: 'loop', loop, version: expect.any(String), made_at: expect.any(Number) })
    expect(answerOf(summary.answers, `get_proof {"loop":"${loop}"}`)).toMatchObject({ grade: 'verified' })
    expect(answerOf(summary.answers, `list_iterations {"brief":true,"limit":1000,"loop":"${loop}"}`)).toMatchObject({
      iterations: [{ n: 1 }, { n: 2 }],
    })
    expect([...details.keys()]).toEqual([1, 2])
    const diff = `get_diff {"against":"start","iteration":2,"loop":"${loop}"}`
    expect(answerOf(details.get(2)?.answers, diff)).toMatchObject({
      files: [{ path: 'done.txt' }, { path: 'note.txt' }],
    })
  })

  test('runs its own script and nothing else', async () => {
    await place.ralph(['show', onlyLoop(place), '--output=safe.html'])
    const { html, details } = open('safe.html')
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
    const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text = '']) => text)
    const styles = [...html.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, text = '']) => text)
    const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect([scripts.length, styles.length]).toEqual([1, 1])
    expect(policy).toContain(`script-src ${hash(scripts[0])};`)
    expect(policy).toContain(`style-src ${hash(styles[0])};`)
    expect(policy).toContain("default-src 'none';")
    expect(html).not.toContain('alert(1)')
    expect(JSON.stringify([...details])).toContain('alert(1)')
    const data = [...html.matchAll(/<template[^>]*>[^<]*/g)].reduce((sum, [text]) => sum + text.length, 0)
    expect(html.length - data).toBeLessThanOrEqual(300_000)
  })

  test('contains no secret, and no redacted name either', async () => {
    await place.ralph(['show', '-o', 'plain.html'])
    const plain = open('plain.html')
    expect(JSON.stringify([plain.summary, ...plain.details])).not.toContain(KEY)
    expect(JSON.stringify(plain.summary)).toContain(place.dir)
    expect((await place.ralph(['show', '-o', 'redacted.html', '--redact'])).code).toBe(0)
    const { html, summary, details } = open('redacted.html')
    const text = `${html}${JSON.stringify([summary, ...details])}`
    for (const name of [place.dir, place.home, place.env.HOME ?? '', 'zaphod', 'me@example.org', KEY])
      expect([name, text.includes(name)]).toEqual([name, false])
    expect(text).toContain('@<user> [x](https://evil.org) in <project>, <email>')
    expect(summary.answers.map(({ key }) => key)).toEqual(plain.summary.answers.map(({ key }) => key))
  })

  test('replaces an existing file, even behind a link, and leaves nothing else', async () => {
    mkdirSync(join(place.dir, 'out'))
    writeFileSync(join(place.dir, 'out', 'real.html'), 'before')
    symlinkSync('real.html', join(place.dir, 'out', 'link.html'))
    expect((await place.ralph(['show', '-o', 'out/link.html'])).code).toBe(0)
    expect(open('out/real.html').summary.kind).toBe('loop')
    expect(readdirSync(join(place.dir, 'out')).sort()).toEqual(['link.html', 'real.html'])
  })
})

test('statistics can be a page as well', async () => {
  const { code, stdout } = await place.ralph(['stats', '--dir', '.', '-o', 'stats.html', '--redact'])
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Wrote stats\.html \(\d+ KB\)\. It opens offline/)])
  const { html, summary, details } = open('stats.html')
  expect(html).toContain('<title>ralph: statistics</title>')
  expect([summary.kind, details.size]).toEqual(['stats', 0])
  expect(summary).toMatchObject({ filter: { dir: '.' } })
  expect(answerOf(summary.answers, 'get_analytics {"dir":"."}')).toMatchObject({ loops: 1 })
})

describe('Markdown for a pull request', () => {
  test('says what was proven, and takes no text for markup', async () => {
    const { code, stdout } = await place.ralph(['show', '--markdown'])
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^## Make it \\<b>pass\\<\/b>\n\n\*\*proof: verified\*\* · 2 iterations · \d+:\d\d · \$0\.50 · /,
    )
    expect(stdout).toContain('\n`sh check.sh` failed before the loop began and passes now.\n')
    expect(stdout).toMatch(/\n\| `sh check\.sh` \| fails.* \| passes \|\n/)
    expect(stdout).toMatch(
      /\n\| 1 ✗ \| claimed done; refused: sh check\.sh fails: @&#8203;everyone \| \+3 −0 \| \d+:\d\d \| - \|\n/,
    )
    expect(stdout).toContain(`\`ralph proof ${onlyLoop(place)} --again\``)
    expect(stdout).toContain('\n````text\n```\n</details>\n@everyone\n````\n\n</details>\n')
  })

  test('goes into a file, redacted', async () => {
    const { stdout } = await place.ralph(['show', '-o', 'loop.md', '--redact'])
    expect(stdout).toBe('Wrote loop.md (1 KB).\n')
    expect(place.read('loop.md')).toMatch(/^## Make it/)
    expect(place.read('loop.md')).not.toContain(place.root)
    const named = await place.ralph(['show', '--markdown', '-o', 'again.md', '--redact'])
    expect([named.code, place.read('again.md')]).toEqual([0, place.read('loop.md')])
  })
})

describe('impossible requests', () => {
  test.each<[argv: string[], says: string]>([
    [['show', '-o', 'x.txt'], 'The file name must end in .html or .md, got "x.txt".'],
    [['show', '-o', '-'], 'The file name must end in .html or .md, got "-".'],
    [['show', '-o'], '--output needs a value: --output FILE.'],
    [['show', '-o', 'x.html', '--json'], '-o cannot be combined with --json.'],
    [['show', '-o', 'x.html', '--follow'], '-o cannot be combined with --follow.'],
    [['show', '--markdown', '--json'], '--markdown cannot be combined with --json.'],
    [['show', '--markdown', '-o', 'x.html'], '--markdown writes FILE.md.'],
    [['show', '--redact'], '--redact needs -o FILE or --markdown.'],
    [['stats', '-o', 'x.md'], 'The file name must end in .html, got "x.md".'],
    [['stats', '-o', 'x.html', '--csv'], '-o cannot be combined with --csv.'],
    [['stats', '--redact'], '--redact needs -o FILE.'],
    [['stats', '--markdown'], 'Unknown option: --markdown.'],
  ])('%j is refused', async (argv, says) => {
    const { code, stdout, stderr } = await place.ralph(argv)
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)])
    expect(stdout === '' || argv.includes('--json')).toBe(true)
  })

  test('one iteration cannot be a report', async () => {
    const { code, stderr } = await place.ralph(['show', onlyLoop(place), '1', '-o', 'x.html'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('A report covers the whole loop. Leave out the iteration number.'),
    ])
    expect(existsSync(join(place.dir, 'x.html'))).toBe(false)
  })

  test('a folder is not overwritten', async () => {
    mkdirSync(join(place.dir, 'folder.html'))
    const { code, stderr } = await place.ralph(['show', '-o', 'folder.html'])
    expect([code, stderr]).toEqual([1, 'ralph: folder.html is a folder. Choose another file: -o FILE.html\n'])
  })

  test('its folder is not created', async () => {
    const { code, stderr } = await place.ralph(['show', '-o', 'nowhere/x.html'])
    expect([code, stderr]).toEqual([1, 'ralph: No such folder: nowhere. Create it first, or choose another file.\n'])
    expect(existsSync(join(place.dir, 'nowhere'))).toBe(false)
  })
})
