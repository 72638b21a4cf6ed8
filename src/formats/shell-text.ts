/** Parses the simple commands of a shell script to see which programs and files it runs. Never runs anything. */

export type ShellCommand = {
  /** Variables stay as `$NAME`. The head of a loop is a command too: `for NAME in …`. */
  words: string[]
  /** Its output is used, so it is more likely the work than the means. */
  captured: boolean
  /** The file that its stdin is redirected from. */
  input?: string
  /** It reads the output of the previous command. */
  piped?: true
  /** The function whose body it is in. */
  inside?: string
}

export function parseShell(text: string): ShellCommand[] {
  const reader: Reader = { text, at: 0, commands: [], heredocs: [], depth: 0 }
  while (reader.at < text.length) readList(reader, undefined, false)
  return withFunctions(reader.commands).flatMap((command) => {
    const words = withoutKeywords(command.words)
    return words.length > 0 ? [{ ...command, words }] : []
  })
}

type Reader = { text: string; at: number; commands: ShellCommand[]; heredocs: string[]; depth: number }
/** `next`: the next word is the file of a redirection, not an argument. */
type Command = ShellCommand & { word: string | undefined; next: 'output' | 'input' | undefined }

const DEEPEST = 200

/** Nobody nests deeper; the rest of such a script is not read. */
function readList(reader: Reader, close: ')' | '`' | undefined, captured: boolean): void {
  if (reader.depth >= DEEPEST) {
    reader.at = reader.text.length
    return
  }
  reader.depth++
  readCommands(reader, close, captured)
  reader.depth--
}

/** Reads up to and including the closing character. */
function readCommands(reader: Reader, close: ')' | '`' | undefined, captured: boolean): void {
  const { text } = reader
  let now = fresh(captured)
  const endCommand = (piped = false) => {
    endWord(now)
    const { word: _, next: __, ...command } = now
    reader.commands.push({ ...command, captured: now.captured || piped })
    now = { ...fresh(captured), ...(piped ? { piped } : {}) }
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
      reader.at += after === '|' || after === '&' ? 2 : 1
    } else if (char === '(' && isHead(now, text.slice(reader.at, reader.at + 10))) {
      reader.commands.push({ words: ['function', now.word ?? ''], captured })
      now = fresh(captured)
      skipTo(reader, ')')
      reader.at++
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
  return { words: [], word: undefined, captured, next: undefined }
}

function isHead({ words, word }: Command, text: string): boolean {
  return word !== undefined && (words.length === 0 || words.join() === 'function') && /^\(\s*\)/.test(text)
}

function endWord(command: Command): void {
  const { word, next } = command
  if (word === undefined) return
  if (next === undefined) command.words.push(word)
  if (next === 'input') command.input = word
  command.next = undefined
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
  command.next = operator === '<' ? 'input' : 'output'
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

/** Assigns each command to the function whose braces it is between. */
function withFunctions(commands: readonly ShellCommand[]): ShellCommand[] {
  let name: string | undefined
  let depth = 0
  return commands.flatMap((command) => {
    const [first = '', second = ''] = command.words
    const isStart = first === 'function' && second !== ''
    if (isStart) [name, depth] = [second, 0]
    const words = isStart ? command.words.slice(2) : command.words
    if (words.length === 0) return []
    if (words[0] === '{') depth++
    else if (depth === 0 && !command.captured) name = undefined // commands in a substitution are listed before their command
    const inside = name === undefined ? {} : { inside: name }
    if (words[0] === '}' && --depth <= 0) [name, depth] = [undefined, 0]
    return [{ ...command, words, ...inside }]
  })
}

const LEADING = new Set(['if', 'then', 'else', 'elif', 'while', 'until', 'do', '!', '{', 'time'])
const NO_COMMAND = new Set(['case', 'select', 'fi', 'done', 'esac', '}', 'in'])

function withoutKeywords(words: readonly string[]): string[] {
  const [first = ''] = words
  if (LEADING.has(first)) return withoutKeywords(words.slice(1))
  return NO_COMMAND.has(first) ? [] : [...words]
}
