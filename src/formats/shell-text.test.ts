import { expect, test } from 'vitest'
import { parseShell } from './shell-text.ts'

/** Commands as words between spaces; a captured one ends in `>`. */
function commands(text: string): string[] {
  return parseShell(text).map(({ words, captured }) => words.join(' ') + (captured ? ' >' : ''))
}

test.each<[text: string, found: string[]]>([
  ['npm run a && npm run b', ['npm run a', 'npm run b']],
  ['a; b & c || d', ['a', 'b', 'c', 'd']],
  ['a | b', ['a >', 'b']],
  ['a > out.txt', ['a >']],
  ['a >/dev/null 2>&1', ['a']],
  ['a &> /dev/null; b', ['a', 'b']],
  ['a 2> log < in', ['a >']],
  ['x=$(./a.sh) && test "$x" = 1', ['./a.sh >', 'x=$()', 'test $x = 1']],
  ['`./a.sh`', ['./a.sh >', '$()']],
  ['# a\nb # c\nd#e', ['b', 'd#e']],
  ['if ! ./a.sh; then exit 1; fi', ['./a.sh', 'exit 1']],
  ['for f in a b; do sh $f; done', ['for f in a b', 'sh $f']],
  ['run() {\n  ./a.sh\n}\nrun', ['./a.sh', 'run']],
  ['case "$1" in\n  x) ./a.sh ;;\nesac', ['./a.sh']],
  ['(cd a && ./b.sh)', ['cd a', './b.sh']],
  ["sh -c 'a && b'", ['sh -c a && b']],
  ['cat <<EOF > out\n./no.sh\nEOF\n./yes.sh', ['cat >', './yes.sh']],
  ['. "$(dirname "$0")/helper.sh"', ['dirname $0 >', '. $()/helper.sh']],
  ['a \\\n  b', ['a b']],
  ['n=$((1 + 2)); a', ['n=0', 'a']],
  ['"never closed', ['never closed']],
  [') a', ['a']],
])('%s', (text, found) => {
  expect(commands(text)).toEqual(found)
})

test('says what a command reads, and which function it is in', () => {
  expect(parseShell('cat a | sh\nsh < b 2>&1')).toMatchObject([
    { words: ['cat', 'a'], captured: true },
    { words: ['sh'], piped: true },
    { words: ['sh'], input: 'b' },
  ])
  const inside = (text: string) => parseShell(text).map(({ words, inside = '' }) => `${inside}: ${words.join(' ')}`)
  expect(inside('run() { a || { b; }; c; }\nd')).toEqual(['run: a', 'run: b', 'run: c', ': d'])
  expect(inside('function run {\n  if "$@"; then a; fi\n}\nrun b')).toEqual(['run: $@', 'run: a', ': run b'])
  expect(inside('run() { a=$(b); }\nc=$(d)')).toEqual(['run: b', 'run: a=$()', ': d', ': c=$()'])
  expect(inside('function run() { a\n}; b')).toEqual(['run: a', ': b'])
})

test('endless nesting does no harm', () => {
  expect(() => parseShell('$('.repeat(100_000))).not.toThrow()
})
