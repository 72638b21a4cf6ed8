/** The simple commands in a shell text, well enough to see which programs and files it runs. Nothing is ever run from it. */

/** `captured`: somebody looks at its output, so it is more likely the work than the means. Variables stay as `$NAME`. */
export type ShellCommand = { words: string[]; captured: boolean }

export function parseShell(text: string): ShellCommand[] {
  const reader: Reader = { text, at: 0, commands: [], heredocs: [], depth: 0 }
  while (reader.at < text.length) readList(reader, undefined, false)
  return reader.commands.flatMap(({ words, captured }) => {
    const rest = withoutKeywords(words)
    return rest.length > 0 ? [{ words: rest, captured }] : []
  })
}

type Reader = { text: string; at: number; commands: ShellCommand[]; heredocs: string[]; depth: number }
type Command = { words: string[]; word: string | undefined; captured: boolean; dropNext: boolean }

const DEEPEST = 200

/** Nobody nests deeper than that, so the rest of such a text is not read. */
function readList(reader: Reader, close: ')' | '`' | undefined, captured: boolean): void {
  if (reader.depth >= DEEPEST) {
    reader.at = reader.text.length
    return
  }
  reader.depth++
  readCommands(reader, close, captured)
  reader.depth--
}

/** Reads up to the closing character, which is taken, too. */
function readCommands(reader: Reader, close: ')' | '`' | undefined, captured: boolean): void {
  const { text } = reader
  let now = fresh(captured)
  const endCommand = (piped = false) => {
    endWord(now)
    reader.commands.push({ words: now.words, captured: now.captured || piped })
    now = fresh(captured)
  }
  while (reader.at < text.length) {
    const char = text[reader.at] ?? ''
    const after = text[reader.at + 1] ?? ''
    if (char === close) {
      reader.at++
      break
    }
    if (char === '&' && (after === '>' || text[reader.at - 1] === '>')) reader.at++
    else if (char === '\n' || char === ';' || char === '&') {
      endCommand()
      reader.at++
      if (char === '\n') skipHeredocs(reader)
    } else if (char === '|') {
      endCommand(after !== '|')
      reader.at += after === '|' ? 2 : 1
    } else if (char === '(' && now.word === undefined) {
      endCommand()
      reader.at++
      readList(reader, ')', captured)
    } else if (char === '(' || char === ')') {
      now = fresh(captured) // the head of a function, or a pattern of `case`
      reader.at++
    } else if (char === '#' && now.word === undefined) skipTo(reader, '\n')
    else if (char === '>' || char === '<') redirect(reader, now)
    else if (/\s/.test(char) || (char === '\\' && after === '\n')) {
      endWord(now)
      reader.at += char === '\\' ? 2 : 1
    } else now.word = (now.word ?? '') + readPiece(reader)
  }
  endCommand()
}

function fresh(captured: boolean): Command {
  return { words: [], word: undefined, captured, dropNext: false }
}

function endWord(command: Command): void {
  if (command.word !== undefined && !command.dropNext) command.words.push(command.word)
  if (command.word !== undefined) command.dropNext = false
  command.word = undefined
}

/** One piece of a word: a quoted part, a variable, a character. */
function readPiece(reader: Reader): string {
  const { text } = reader
  const char = text[reader.at++] ?? ''
  if (char === "'") {
    const end = text.indexOf("'", reader.at)
    const piece = text.slice(reader.at, end < 0 ? text.length : end)
    reader.at = end < 0 ? text.length : end + 1
    return piece
  }
  if (char === '"') {
    let piece = ''
    while (reader.at < text.length && text[reader.at] !== '"') piece += readPiece(reader)
    reader.at++
    return piece
  }
  if (char === '\\') {
    const next = text[reader.at++] ?? ''
    return next === '\n' ? '' : next
  }
  if (char === '`') {
    readList(reader, '`', true)
    return '$()'
  }
  if (char !== '$' || text[reader.at] !== '(') return char
  if (text.startsWith('((', reader.at)) {
    skipTo(reader, '))')
    reader.at += 2
    return '0'
  }
  reader.at++
  readList(reader, ')', true)
  return '$()'
}

function redirect(reader: Reader, command: Command): void {
  const { text } = reader
  if (/^\d+$/.test(command.word ?? '')) command.word = undefined
  endWord(command)
  const heredoc = /^<<(?!<)-?\s*(['"]?)([\w.]+)\1/.exec(text.slice(reader.at, reader.at + 100))
  if (heredoc) {
    reader.heredocs.push(heredoc[2] ?? '')
    reader.at += heredoc[0].length
    return
  }
  const [operator = '>'] = /^(?:[<>]{1,3}[|]?(?:&[\d-]+)?)/.exec(text.slice(reader.at, reader.at + 20)) ?? []
  reader.at += operator.length
  if (operator.includes('&')) return
  command.dropNext = true
  if (operator.startsWith('>') && !/^\s*(&|\/dev\/null)/.test(text.slice(reader.at))) command.captured = true
}

function skipHeredocs(reader: Reader): void {
  for (const end of reader.heredocs.splice(0)) {
    const found = new RegExp(`^[ \\t]*${end.replaceAll('.', '\\.')}[ \\t]*$`, 'm').exec(reader.text.slice(reader.at))
    reader.at = found ? reader.at + found.index + found[0].length : reader.text.length
  }
}

function skipTo(reader: Reader, mark: string): void {
  const end = reader.text.indexOf(mark, reader.at)
  reader.at = end < 0 ? reader.text.length : end
}

const LEADING = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time'])
const NO_COMMAND = new Set(['for', 'case', 'select', 'function', 'fi', 'done', 'esac', '}', 'in'])

function withoutKeywords(words: readonly string[]): string[] {
  const [first = ''] = words
  if (LEADING.has(first)) return withoutKeywords(words.slice(1))
  return NO_COMMAND.has(first) ? [] : [...words]
}
