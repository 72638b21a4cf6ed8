import { expect, test } from 'vitest'
import { parseDiff } from './parse-diff.ts'

test('lines have their numbers before and after', () => {
  const [file] = parseDiff(`diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -3,3 +3,4 @@ function main() {
 same
-old
+new
+another
 last
`)
  expect(file).toEqual({
    path: 'src/a.ts',
    change: 'changed',
    added: 2,
    removed: 1,
    hunks: [
      {
        oldStart: 3,
        newStart: 3,
        heading: 'function main() {',
        lines: [
          { kind: 'same', old: 3, new: 3, text: 'same' },
          { kind: 'removed', old: 4, text: 'old' },
          { kind: 'added', new: 4, text: 'new' },
          { kind: 'added', new: 5, text: 'another' },
          { kind: 'same', old: 5, new: 6, text: 'last' },
        ],
      },
    ],
  })
})

test('what looks like a header inside a hunk is a line', () => {
  const [file, ...more] = parseDiff(`diff --git a/a.sql b/a.sql
--- a/a.sql
+++ b/a.sql
@@ -1,2 +1,2 @@
--- a comment
+++ b/other
 diff --git a/x b/x
`)
  expect(more).toEqual([])
  expect(file?.path).toBe('a.sql')
  expect(file?.hunks[0]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
    ['removed', '-- a comment'],
    ['added', '++ b/other'],
    ['same', 'diff --git a/x b/x'],
  ])
})

test.each<[story: string, text: string, file: object]>([
  ['added', 'new file mode 100644\n--- /dev/null\n+++ b/a b.txt\n@@ -0,0 +1 @@\n+x', { change: 'added', added: 1 }],
  ['deleted', 'deleted file mode 100644\n--- a/a b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x', { change: 'deleted' }],
  ['empty', 'new file mode 100644\nindex 0..e6', { change: 'added', hunks: [] }],
  ['binary', 'index 1..2\nBinary files a/a b.txt and b/a b.txt differ', { binary: true, hunks: [] }],
  ['its mode changed', 'old mode 100644\nnew mode 100755', { change: 'changed', hunks: [] }],
])('a file with a space in its name: %s', (_, text, file) => {
  expect(parseDiff(`diff --git a/a b.txt b/a b.txt\n${text}\n`)).toMatchObject([{ path: 'a b.txt', ...file }])
})

test('a renamed file has both names', () => {
  const text = 'diff --git a/old.ts b/new.ts\nsimilarity index 90%\nrename from old.ts\nrename to new.ts\n'
  expect(parseDiff(text)).toMatchObject([{ path: 'new.ts', from: 'old.ts', change: 'renamed' }])
})

test('quoted names are decoded', () => {
  const text = String.raw`diff --git "a/a\tb\"\303\244.txt" "b/a\tb\"\303\244.txt"`
  expect(parseDiff(text)).toMatchObject([{ path: 'a\tb"ä.txt' }])
})

test('a file without a final newline says so at its last line', () => {
  const [file] = parseDiff(`diff --git a/a b/a
--- a/a
+++ b/a
@@ -1 +1 @@
-x
\\ No newline at end of file
+y
`)
  expect(file?.hunks[0]?.lines).toEqual([
    { kind: 'removed', old: 1, text: 'x', noBreak: true },
    { kind: 'added', new: 1, text: 'y' },
  ])
})

test('a truncated diff is read as far as it goes', () => {
  const text = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n same\n'
  expect(parseDiff(text)).toMatchObject([{ path: 'a', hunks: [{ lines: [{ text: 'same' }] }] }])
  expect(parseDiff('')).toEqual([])
})
