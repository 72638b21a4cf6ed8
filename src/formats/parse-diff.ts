/** Parses `git diff` output: files, hunks and lines with their numbers, so that a line can be referred to. */

export type DiffFile = {
  /** Its current path; for a deleted file, its old one. */
  path: string
  /** Its old path, if different. */
  from?: string
  change: 'added' | 'deleted' | 'changed' | 'renamed'
  binary?: true
  added: number
  removed: number
  hunks: DiffHunk[]
}

/** `heading`: what git shows after the line numbers, such as the function. */
export type DiffHunk = { oldStart: number; newStart: number; heading: string; lines: DiffLine[] }

/** `old`, `new`: its line number before and after. `noBreak`: the last line, without a newline. */
export type DiffLine = { kind: 'same' | 'added' | 'removed'; old?: number; new?: number; text: string; noBreak?: true }

/** Accepts a truncated diff; a file with only its header has no hunks. */
export function parseDiff(text: string): DiffFile[] {
  const files: DiffFile[] = []
  let hunk: Open | undefined
  for (const line of text.split('\n')) {
    const file = files.at(-1)
    if (file && hunk && takeLine(file, hunk, line)) continue
    if (line.startsWith('diff --git ')) {
      files.push({ path: bothPaths(line), change: 'changed', added: 0, removed: 0, hunks: [] })
      hunk = undefined
    } else if (file) hunk = openHunk(file, line) ?? takeHead(file, line)
  }
  return files
}

/** `left`: how many lines of each side are still expected. */
type Open = { hunk: DiffHunk; old: number; new: number; left: { old: number; new: number } }

const KINDS: Readonly<Record<string, DiffLine['kind']>> = { ' ': 'same', '+': 'added', '-': 'removed' }

/** Whether it belongs to the hunk: lines can look like anything, so they are counted. */
function takeLine(file: DiffFile, open: Open, line: string): boolean {
  const { hunk, left } = open
  if (line.startsWith('\\')) {
    const last = hunk.lines.at(-1)
    if (last) last.noBreak = true
    return true
  }
  const kind = KINDS[line.charAt(0)]
  if (kind === undefined || (left.old <= 0 && left.new <= 0)) return false
  const text = line.slice(1)
  if (kind === 'added') file.added += 1
  else left.old -= 1
  if (kind === 'removed') file.removed += 1
  else left.new -= 1
  hunk.lines.push({
    kind,
    ...(kind === 'added' ? {} : { old: open.old++ }),
    ...(kind === 'removed' ? {} : { new: open.new++ }),
    text,
  })
  return true
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

function openHunk(file: DiffFile, line: string): Open | undefined {
  const [, oldStart, oldLines = '1', newStart, newLines = '1', heading = ''] = HUNK.exec(line) ?? []
  if (oldStart === undefined || newStart === undefined) return undefined
  const [old, young] = [Number(oldStart), Number(newStart)]
  const hunk: DiffHunk = { oldStart: old, newStart: young, heading, lines: [] }
  file.hunks.push(hunk)
  return { hunk, old, new: young, left: { old: Number(oldLines), new: Number(newLines) } }
}

function takeHead(file: DiffFile, line: string): undefined {
  if (line.startsWith('new file mode')) file.change = 'added'
  else if (line.startsWith('deleted file mode')) file.change = 'deleted'
  else if (line.startsWith('rename from ')) {
    file.change = 'renamed'
    file.from = unquote(line.slice(12))
  } else if (line.startsWith('rename to ')) file.path = unquote(line.slice(10))
  else if (line.startsWith('+++ ') && line !== '+++ /dev/null') file.path = bare(line.slice(4))
  else if (line.startsWith('--- ') && line !== '--- /dev/null' && file.change !== 'renamed')
    file.path = bare(line.slice(4))
  else if (/^Binary files .* differ$|^GIT binary patch$/.test(line)) file.binary = true
}

/** `a/x b/x` → `x`: where neither was renamed, both halves name the same file. Files without hunks have no other line. */
function bothPaths(line: string): string {
  const names = line.slice('diff --git '.length)
  if (names.startsWith('"')) return bare(/^"(?:[^"\\]|\\.)*"/.exec(names)?.[0] ?? names)
  return bare(names.slice(0, (names.length - 1) / 2))
}

function bare(name: string): string {
  return unquote(name.replace(/\t$/, '')).replace(/^[ab]\//, '')
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', v: '\v', f: '\f' }

/** Git quotes names with characters that would break a line; bytes are in octal. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name
  const bytes: number[] = []
  for (const [, octal, letter, plain] of name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else bytes.push(...new TextEncoder().encode(plain ?? ESCAPES[letter ?? ''] ?? letter ?? ''))
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}
