/** Small projects for real test runners, and loops in them whose agents are a few lines of sh. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { commitAll, LAUNCHER, makePlace, type Place, type Ran } from '../ralph.ts'

export type Runner = 'node' | 'vitest' | 'pytest' | 'cargo' | 'make' | 'script'

export type Files = Readonly<Record<string, string>>

/** `red`: the code is wrong, so the tests fail. `green`: they pass before any work. */
export type Start = 'red' | 'green'

export type Project = { check: string; files: Files; installs?: true }

/**
 * Fixes the Python library. The line gets another length on purpose: within one second Python takes a file of the same
 * size for the one it has already compiled.
 */
export const FIX_PYTHON = "sed -i 's/a - b/sum((a, b))/' sums.py"

const SOURCES: Readonly<Record<Start, string>> = { red: 'a - b', green: 'a + b' }

/** A library of one function that adds, with two tests; one of them fails while it subtracts. */
export function projectOf(runner: Runner, start: Start): Project {
  const body = SOURCES[start]
  switch (runner) {
    case 'node':
      return { check: 'node --test', files: nodeFiles(body) }
    case 'vitest':
      return { check: 'node_modules/.bin/vitest run', files: vitestFiles(body), installs: true }
    case 'pytest':
      return { check: 'python3 -m pytest -q', files: pytestFiles(body) }
    case 'cargo':
      return { check: 'cargo test --quiet', files: cargoFiles(body) }
    case 'make':
      return { check: 'make test', files: makeFiles(body) }
    case 'script':
      return { check: './check.sh', files: scriptFiles(body) }
  }
}

export function manifest(more: Record<string, unknown>): string {
  return `${JSON.stringify({ name: 'sums', version: '1.0.0', type: 'module', ...more }, null, 2)}\n`
}

function nodeFiles(body: string): Files {
  return {
    '.gitignore': 'node_modules/\n',
    'package.json': manifest({ scripts: { test: 'node --test' } }),
    'src/sum.js': `export function sum(a, b) {\n  return ${body}\n}\n`,
    'test/sum.test.js': `import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from '../src/sum.js'

test('adds', () => {
  equal(sum(2, 3), 5)
})

test('adds nothing', () => {
  equal(sum(2, 0), 2)
})
`,
  }
}

function vitestFiles(body: string): Files {
  return {
    '.gitignore': 'node_modules/\n',
    'package.json': manifest({ scripts: { test: 'vitest run' }, devDependencies: { vitest: '*' } }),
    'src/sum.js': `export function sum(a, b) {\n  return ${body}\n}\n`,
    'src/sum.test.js': `import { expect, it } from 'vitest'
import { sum } from './sum.js'

it('adds', () => {
  expect(sum(2, 3)).toBe(5)
})

it('adds nothing', () => {
  expect(sum(2, 0)).toBe(2)
})
`,
  }
}

function pytestFiles(body: string): Files {
  return {
    '.gitignore': '__pycache__/\n',
    'sums.py': `def add(a, b):\n    return ${body}\n`,
    'tests/test_sums.py': `import sums


def test_adds():
    assert sums.add(2, 3) == 5


def test_adds_nothing():
    assert sums.add(2, 0) == 2
`,
  }
}

function cargoFiles(body: string): Files {
  return {
    '.gitignore': 'target/\n',
    'Cargo.toml': '[package]\nname = "sums"\nversion = "1.0.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
    'src/lib.rs': `pub fn sum(a: i64, b: i64) -> i64 {
    ${body}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        assert_eq!(sum(2, 3), 5);
    }

    #[test]
    fn adds_nothing() {
        assert_eq!(sum(2, 0), 2);
    }
}
`,
    'tests/whole.rs': `#[test]
fn adds_from_outside() {
    assert_eq!(sums::sum(20, 30), 50);
}
`,
  }
}

/** A program in C, built by make. */
function makeFiles(body: string): Files {
  return {
    '.gitignore': 'build/\n',
    Makefile: `include ci.mk

build/sum: src/sum.c
	mkdir -p build
	$(CC) -o build/sum src/sum.c

.PHONY: clean
clean:
	rm -rf build
`,
    'ci.mk': `test: build/sum
	sh tests/sum.sh
`,
    'src/sum.c': `#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words) {
  long a = atol(words[1]), b = atol(words[2]);
  printf("%ld\\n", ${body});
  return count == 3 ? 0 : 1;
}
`,
    'tests/sum.sh': `set -e
test "$(build/sum 2 0)" = 2
test "$(build/sum 2 3)" = 5
`,
  }
}

function scriptFiles(body: string): Files {
  return {
    'sum.sh': `#!/bin/sh\na=$1 b=$2\necho $((${body}))\n`,
    'helper.sh': `expect() {
  if [ "$1" != "$2" ]; then
    echo "expected $2, got $1"
    exit 1
  fi
}
`,
    'check.sh': `#!/bin/sh
. ./helper.sh
expect "$(./sum.sh 2 0)" 2
expect "$(./sum.sh 2 3)" 5
`,
  }
}

const REPOSITORY = resolve(import.meta.dirname, '..', '..')

/** The project in its own place, committed. */
export function makeProject({ files, installs }: Project, { git = true }: { git?: boolean } = {}): Place {
  const place = makePlace({ git: false })
  Object.assign(place.env, TOOLS)
  writeFiles(place, files)
  if (installs) install(place.dir)
  if (git) commitAll(place)
  return place
}

export function writeFiles(place: Place, files: Files): void {
  for (const [name, text] of Object.entries(files)) place.write(name, text, text.startsWith('#!') ? 0o755 : 0o644)
}

/** Links to what is installed here, so that real test runners need no network. */
function install(dir: string): void {
  const installed = join(REPOSITORY, 'node_modules')
  const folder = join(dir, 'node_modules')
  mkdirSync(join(folder, '.bin'), { recursive: true })
  for (const name of readdirSync(installed).filter((entry) => !entry.startsWith('.')))
    symlinkSync(join(installed, name), join(folder, name))
  symlinkSync('../vitest/vitest.mjs', join(folder, '.bin', 'vitest'))
}

/** The folder of this machine's Rust tools, which look for themselves in the home folder. */
const TOOLS: Record<string, string> = {
  CARGO_NET_OFFLINE: 'true',
  npm_config_update_notifier: 'false',
  RALPH_BIN: LAUNCHER,
  ...Object.fromEntries(
    [
      ['RUSTUP_HOME', '.rustup'],
      ['CARGO_HOME', '.cargo'],
    ].flatMap(([name = '', folder = '']) => {
      const path = process.env[name] ?? join(homedir(), folder)
      return existsSync(path) ? [[name, path]] : []
    }),
  ),
}

/** Why a runner cannot be tested here; undefined: it can. */
export function whyMissing(runner: Runner): string | undefined {
  const [program, ...args] = PROBES[runner] ?? []
  if (program === undefined) return undefined
  try {
    execFileSync(program, args, { env: { ...process.env, ...TOOLS }, stdio: 'ignore' })
    return undefined
  } catch {
    return `${runner} is not installed here`
  }
}

const PROBES: Partial<Record<Runner, string[]>> = {
  pytest: ['python3', '-m', 'pytest', '--version'],
  cargo: ['cargo', '--version'],
  make: ['sh', '-c', 'make --version && cc --version'],
}

/** Makes the claim that a loop waits for. */
export const CLAIM = "printf 'All is done.\\n\\n<promise>COMPLETE</promise>\\n'"

export function runLoop(place: Place, lines: string, flags: readonly string[], below = ''): Promise<Ran> {
  const args = ['run', 'Make the sum right.', '--agent', place.agent(lines), '--json', ...flags]
  return place.ralph(args, { cwd: join(place.dir, below) })
}

/** How a loop ended, in one word: its grade, `waits` for a person, or why it halted. */
export function endOf({ code, end, stderr }: Ran): string {
  if (end.status === 'completed') return `${end.proof}${code === 0 ? '' : ` with exit code ${code}`}`
  if (end.status === 'needs-input') return 'waits'
  return end.status === 'halted' ? `${end.reason}` : `${end.status ?? stderr}`
}
