/** A picture of a real run: `ralph demo` in a terminal of its own, as tmux captured it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Run, readAnsi, terminalSvg } from './terminal-svg.ts'

const COLUMNS = 112

/** Keeps a picture that differs from this run only by chance: in the id of its loop and in times. */
export function terminalPicture(file: string, { folder }: { folder: string }): void {
  if (spawnSync('tmux', ['-V']).status !== 0) {
    console.log(`${file}: skipped, tmux is not installed`)
    return
  }
  const captured = capture(folder).replaceAll(/\/\S*\/ralph-demo-\w+/g, '/tmp/demo')
  const svg = terminalSvg(runOf(readAnsi(captured)), { title: 'ralph demo', columns: COLUMNS })
  if (!existsSync(file) || withoutChance(readFileSync(file, 'utf8')) !== withoutChance(svg)) writeFileSync(file, svg)
}

function capture(folder: string): string {
  const socket = join(folder, 'tmux')
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', TMPDIR: folder },
      timeout: 120_000,
    })
  const script = '"$0" bin/ralph.cjs demo; tmux wait-for -S over; exec cat'
  tmux('new-session', '-d', '-x', `${COLUMNS}`, '-y', '50', 'sh', '-c', script, process.execPath)
  try {
    tmux('wait-for', 'over')
    return tmux('capture-pane', '-p', '-e', '-S', '-')
  } finally {
    tmux('kill-server')
  }
}

/** From the command line of `ralph run` to the empty line after its last one. */
function runOf(lines: Run[][]): Run[][] {
  const first = lines.findIndex(([run]) => run?.text.startsWith('$ ralph run'))
  const length = lines.slice(first).findIndex((runs) => runs.length === 0)
  if (first < 0 || length < 0) throw new Error('The demo did not print a run.')
  return lines.slice(first, first + length)
}

/** The words of the picture without the id of the loop and without times. */
function withoutChance(svg: string): string {
  return svg.replace(/>[a-z0-9]{8}</g, '>LOOP<').replace(/>\d+:\d\d</g, '>TIME<')
}
