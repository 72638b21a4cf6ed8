/** Numbers, times and names in readable form. */

// Creating one takes longer than drawing a list row.
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const NUMBER = new Intl.NumberFormat('en')

export function money(usd: number | undefined): string {
  if (usd === undefined) return '–'
  return usd > 0 && usd < 0.01 ? '<$0.01' : `$${usd.toFixed(2)}`
}

export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return minutes < 10 && seconds % 60 ? `${minutes}m ${seconds % 60}s` : `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours}h ${minutes % 60}m` : `${hours}h`
  return `${Math.floor(hours / 24)}d`
}

export function amount(value: number): string {
  if (value < 1_000) return String(Math.round(value))
  if (value < 1_000_000) return `${(value / 1_000).toFixed(value < 10_000 ? 1 : 0)}k`
  return `${(value / 1_000_000).toFixed(1)}M`
}

export function percent(rate: number | undefined): string {
  return rate === undefined ? '–' : `${Math.round(rate * 100)}%`
}

export function ago(at: number, now: number = Date.now()): string {
  const ms = now - at
  if (ms < 60_000) return 'just now'
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)}m ago`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)}h ago`
  if (ms < 7 * 86_400_000) return `${Math.floor(ms / 86_400_000)}d ago`
  return DAY.format(at)
}

export function timeOf(at: number): string {
  const time = new Date(at)
  const clock = CLOCK.format(time)
  return time.toDateString() === new Date().toDateString() ? clock : `${DAY.format(time)}, ${clock}`
}

export function count(number: number, noun: string): string {
  return `${NUMBER.format(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** The first line that is not blank. */
export function titleOf(prompt: string): string {
  const line = prompt.split('\n').find((text) => text.trim()) ?? ''
  return line.replace(/^#+\s*/, '').trim() || 'Untitled'
}

export function folderName(dir: string): string {
  return dir.split(/[/\\]/).findLast((part) => part) ?? dir
}

/** `command:./tools/agent.sh --fast` becomes `command agent` where space is tight; the full name is shown on demand. */
export function agentName(agent: string): string {
  const [, name = agent, target = ''] = /^(\w+):(.*)$/s.exec(agent) ?? []
  const [program = ''] = target.replaceAll(/["']/g, '').split(' ')
  return [name, folderName(program).replace(/\.\w+$/, '')].filter(Boolean).join(' ')
}

/** `no-progress` as words. */
export function plain(kind: string): string {
  return kind.replaceAll('-', ' ')
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * Strips colors and cursor moves from program output. Characters that change the text direction are spelled out, since
 * they can make code look like different code.
 */
export function harmless(text: string): string {
  if (!ODD.test(text)) return text
  return text.replace(ANSI, '').replace(CONTROLS, '').replace(TURNING, codeOf)
}

function codeOf(letter: string): string {
  return `[U+${letter.charCodeAt(0).toString(16).toUpperCase()}]`
}

const ESC = '\u001b'
const BEL = '\u0007'
const ANSI = new RegExp(
  `${ESC}(?:\\[[0-?]*[ -/]*[@-~]|\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)?|[PX^_][^${ESC}]*${ESC}\\\\|[ -/]*[0-~])`,
  'g',
)
/** Except tabs and line breaks. */
const CONTROLS = /[^\P{Cc}\t\n]/gu
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g
const ODD = new RegExp(`${CONTROLS.source}|${TURNING.source}`, 'u')
