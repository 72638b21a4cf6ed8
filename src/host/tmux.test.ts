import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { until } from '../../test/ralph.ts'
import { openTmux, socketOf } from './tmux.ts'

const home = mkdtempSync(join(tmpdir(), 'ralph-tmux-'))
const env = { ...process.env, TMUX_TMPDIR: home }
const tmux = openTmux(home, env)
const hasTmux = spawnSync('tmux', ['-V']).status === 0
const TEXT = `# 任务 🦉\n\tif (x) { \`y\` }; "$HOME" 'z' \\n #{pane_id} %%\n\nEOF\n last line`

afterAll(() => {
  spawnSync('tmux', ['-L', socketOf(home), 'kill-server'], { env })
  rmSync(home, { recursive: true, force: true })
})

describe.skipIf(!hasTmux)('a terminal in tmux', () => {
  test('runs a program with its own arguments and variables, in a folder of any name', async () => {
    const dir = join(home, 'a #{pane_id};')
    mkdirSync(dir)
    const words = ['a;', 'b c', '#{pane_id}', '$HOME', ';', '']
    const argv = ['sh', '-c', 'printf "%s\\n" "$PWD" "$MINE" "$@" > "$OUT"; exec cat', 'sh', ...words]
    await tmux.start({ tag: 'one', title: 'one', dir, argv, env: { MINE: 'x=1;', OUT: join(home, 'out') } })
    await until('it has written', () => readIf(join(home, 'out')).endsWith('\n\n'))
    expect(readIf(join(home, 'out')).split('\n').slice(0, -1)).toEqual([dir, 'x=1;', ...words])
    expect((await tmux.look())?.panes.get('one')).toMatchObject({ alive: true })
    const server = (await tmux.look())?.server
    await tmux.close('one')
    expect((await tmux.look())?.server).toBe(server) // it stays without a terminal
    expect((await tmux.look())?.panes.get('one')).toBeUndefined()
  })

  test('takes a text as one paste, byte for byte, and keys as keys', async () => {
    // It asks for bracketed pastes, as agents do, and keeps what it gets.
    const argv = ['sh', '-c', 'stty raw -echo; printf "\\033[?2004hready"; exec dd bs=1 of="$OUT" 2>/dev/null']
    const out = join(home, 'pasted')
    await tmux.start({ tag: 'two', title: 'two', dir: home, argv, env: { OUT: out } })
    await until('it is ready', async () => (await tmux.screen('two')).includes('ready'))
    await tmux.paste('two', TEXT)
    await tmux.press('two', 'Enter')
    await until('all has arrived', () => readIf(out).endsWith('\r'))
    // Terminals send line breaks as carriage returns; inside the brackets the program reads them.
    expect(readIf(out).replaceAll('\r', '\n')).toBe(`\u001b[200~${TEXT}\u001b[201~\n`)
  })

  test('gets several keys one by one: two at once may be another key', async () => {
    const argv = ['sh', '-c', 'stty raw -echo; printf ready; exec "$NODE" -e "$READ"']
    const out = join(home, 'keys')
    const read =
      'process.stdin.on("data", (keys) => require("fs").appendFileSync(process.env.OUT, JSON.stringify(String(keys))))'
    const given = { OUT: out, NODE: process.execPath, READ: `${read}; console.log("reading")` }
    await tmux.start({ tag: 'keys', title: 'keys', dir: home, argv, env: given })
    await until('it reads', async () => (await tmux.screen('keys')).includes('reading'))
    await tmux.press('keys', 'Escape', 'Escape')
    await until('both have arrived', () => readIf(out).split('u001b').length > 2)
    expect(readIf(out)).toBe('"\\u001b""\\u001b"')
  })

  test('lets nothing in a text end its paste', async () => {
    const argv = ['sh', '-c', 'stty raw -echo; printf "\\033[?2004hready"; exec dd bs=1 of="$OUT" 2>/dev/null']
    const out = join(home, 'cleaned')
    await tmux.start({ tag: 'clean', title: 'clean', dir: home, argv, env: { OUT: out } })
    await until('it is ready', async () => (await tmux.screen('clean')).includes('ready'))
    await tmux.paste('clean', 'one\r\ntwo\u001b[201~\n!touch PWNED\u0003\n\u009b201~\tthree')
    await tmux.press('clean', 'Enter')
    await until('all has arrived', () => readIf(out).endsWith('\u001b[201~\r'))
    expect(readIf(out)).toBe('\u001b[200~one\rtwo[201~\r!touch PWNED\r201~\tthree\u001b[201~\r')
  })

  test('stays readable after its program has ended', async () => {
    const argv = ['sh', '-c', 'echo last words; read enough']
    await tmux.start({ tag: 'three', title: 'three', dir: home, argv, env: {} })
    await until('its words are to be seen', async () => (await tmux.screen('three')).includes('last words'))
    await tmux.press('three', 'Enter')
    await until('it has ended', async () => (await tmux.look())?.panes.get('three')?.alive === false)
    expect(await tmux.screen('three')).toContain('last words')
  })

  test('is distinguished from those that a person opens next to it', async () => {
    await tmux.start({ tag: 'four', title: 'four', dir: home, argv: ['sh', '-c', 'echo mine; exec cat'], env: {} })
    spawnSync('tmux', ['-L', socketOf(home), 'split-window', '-t', '=four:', 'echo theirs; exec cat'], { env })
    await until('it is to be seen', async () => (await tmux.screen('four')).includes('mine'))
    expect(await tmux.screen('four')).not.toContain('theirs')
  })

  test('is gone with its server', async () => {
    spawnSync('tmux', ['-L', socketOf(home), 'kill-server'], { env })
    expect(await tmux.look()).toBeUndefined()
    await expect(tmux.press('four', 'Enter')).rejects.toThrow('The terminal of four no longer exists.')
  })
})

function readIf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // not written yet
  }
}
