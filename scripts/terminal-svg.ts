/** Draws a terminal as an SVG: the text and colors of `tmux capture-pane -e`, on an exact grid. */

type Style = { color?: number; bold?: true; dim?: true }
/** Text in one style; each character takes one cell. */
export type Run = Style & { column: number; text: string }

const CELL = 8.4
const LINE = 21
const FONT = 14
const PADDING = 20
const BAR = 36

const TEXT = '#e6edf3'
const DIM = '#8b949e'
/** Red, green, yellow, blue, magenta, cyan: 31 to 36. */
const COLORS = ['#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd']

export function terminalSvg(lines: readonly Run[][], { title, columns }: { title: string; columns: number }): string {
  const width = Math.ceil(columns * CELL + 2 * PADDING)
  const height = BAR + lines.length * LINE + PADDING
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, at) => `<circle cx="${22 + at * 20}" cy="18" r="6" fill="${fill}"/>`,
  )
  const rows = lines.flatMap((runs, row) => runs.map((run) => drawRun(run, BAR + row * LINE + 15)))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeXml(title)}">
<style>
text { font: ${FONT}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; fill: ${TEXT}; white-space: pre }
.title { font-size: 13px; fill: ${DIM}; text-anchor: middle }
.bold { font-weight: 700 }
.dim { fill: ${DIM} }
${COLORS.map((color, at) => `.c${31 + at} { fill: ${color} }`).join('\n')}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" fill="#0d1117" stroke="#30363d"/>
${dots.join('')}<text class="title" x="${width / 2}" y="22">${escapeXml(title)}</text>
${rows.join('\n')}
</svg>
`
}

/** The runs of each line. A style lasts until it changes, even across lines. */
export function readAnsi(ansi: string): Run[][] {
  let style: Style = {}
  return ansi
    .replace(/\n+$/, '')
    .split('\n')
    .map((line) => {
      let column = 0
      const runs: Run[] = []
      // The text before the first escape has no code: the `m` ends an empty one.
      for (const part of `m${line}`.split('\u001b[')) {
        const end = part.indexOf('m')
        if (end > 0) style = part.slice(0, end).split(';').reduce(restyle, style)
        const text = part.slice(end + 1)
        if (text.trim()) runs.push({ ...style, column, text })
        column += text.length
      }
      return runs
    })
}

function restyle(style: Style, code: string): Style {
  const number = Number(code)
  const { color, ...plain } = style
  if (number === 0) return {}
  if (number === 1) return { ...style, bold: true }
  if (number === 2) return { ...style, dim: true }
  if (number === 22) return color === undefined ? {} : { color }
  if (number === 39) return plain
  return number > 30 && number < 37 ? { ...style, color: number } : style
}

/** Places every word on the grid, so that columns line up in any font. */
function drawRun({ column, text, color, bold, dim }: Run, y: number): string {
  const style = [bold && 'bold', color ? `c${color}` : dim && 'dim'].filter(Boolean).join(' ')
  const spans = [...text.matchAll(/[!-~]+|[^ -~]/g)].map(({ 0: word, index }) => {
    const x = PADDING + (column + index) * CELL
    return `<tspan x="${round(x)}" textLength="${round(word.length * CELL)}">${escapeXml(word)}</tspan>`
  })
  return `<text y="${y}"${style ? ` class="${style}"` : ''}>${spans.join('')}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
