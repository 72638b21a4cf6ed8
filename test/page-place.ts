/** A board with three kinds of loops and a browser, for tests that do what users do. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createClient } from '../src/fronts/server/client.ts'
import { type Eyes, type Launch, openTabs, type Page, type Tabs } from './browser.ts'
import { makePlace, type Place, until } from './ralph.ts'
import { onDatabase } from './served.ts'

export type Client = ReturnType<typeof createClient>

export type BoardPlace = {
  place: Place
  client: Client
  /** The address of a view, with the token. */
  at(path: string): string
  tabs: Tabs
  page: Page
}

export async function openBoardPlace(launch: Launch, eyes: Eyes = {}): Promise<BoardPlace> {
  const place = onDatabase(makePlace({ git: false }))
  const running = place.start(['serve', '--port', '0', '--json'])
  const line = await until('the address', () => running.lines().find(({ type }) => type === 'serve-start'))
  const { url, token } = line as unknown as { url: string; token: string }
  const browser = await launch()
  onTestFinished(async () => {
    await browser.close()
    process.kill(running.pid, 'SIGTERM')
    await running.ended
  })
  const at = (path: string) => `${new URL(path, url)}#t=${token}`
  const tabs = await openTabs(browser, eyes)
  tabs.context.setDefaultTimeout(20_000)
  return { place, client: createClient({ url, token }), at, tabs, page: await tabs.open(at('/loops')) }
}

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sum } from './sum.mjs'

test('adds two numbers', () => assert.equal(sum(2, 2), 4))
test('adds a negative number', () => assert.equal(sum(2, -1), 1))
`
const CLAIM = `echo; echo '<promise>COMPLETE</promise>'`
const FIX = `printf 'export function sum(a, b) {\\n  return a + b\\n}\\n' > sum.mjs`

export type Story = { dir: string; agent: string; check: string; prompt(iteration: number): string; go(): void }

/** A repository with a failing test, and an agent that runs these lines of sh, one per iteration. */
export function makeStory(place: Place, name: string, turns: readonly string[]): Story {
  const dir = join(place.root, name)
  mkdirSync(join(dir, '..', `${name}-prompts`), { recursive: true })
  mkdirSync(dir)
  writeFileSync(join(dir, 'sum.mjs'), 'export function sum(a, b) {\n  return a * b\n}\n')
  writeFileSync(join(dir, 'sum.test.mjs'), TEST)
  const git = (...args: string[]) => execFileSync('git', args, { cwd: dir, env: place.env, stdio: 'ignore' })
  git('init', '--quiet', '--initial-branch', 'main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'A sum that does not add up')
  const cases = turns.map((lines, at) => `${at + 1 === turns.length ? '*' : at + 1})\n${lines}\n;;`).join('\n')
  const file = join(place.root, `${name}.sh`)
  const keep = `cat > '${dir}-prompts/'"$RALPH_ITERATION"`
  writeFileSync(file, `#!/bin/sh\n${keep}\ncase $RALPH_ITERATION in\n${cases}\nesac\n`, { mode: 0o755 })
  return {
    dir,
    agent: `command:${file}`,
    check: 'node --test',
    prompt: (iteration) => readFileSync(`${dir}-prompts/${iteration}`, 'utf8'),
    go: () => writeFileSync(`${dir}.go`, ''),
  }
}

/** Does half the work, waits until somebody has looked, gets their comment, and does the rest. */
export function fixingStory(place: Place, name = 'fixing'): Story {
  const wait = `while ! test -e '${join(place.root, name)}.go'; do sleep 0.05; done`
  return makeStory(place, name, [
    `printf 'export function sum(a, b) {\\n  return a - b\\n}\\n' > sum.mjs; echo 'The product is gone. The sum is next.'`,
    `${wait}; echo 'Looked at the callers.' >> notes.md; echo 'The callers are fine.'`,
    `${FIX}; echo 'The sum is right now.'; ${CLAIM}`,
  ])
}

/** Asks a question, and does the work once it is answered. */
export function askingStory(place: Place, name = 'asking'): Story {
  return makeStory(place, name, [
    `echo 'I need a decision.'; echo; echo '<ask>Should the sum round up or down?</ask>'`,
    `${FIX}; echo 'Rounded as you said.'; ${CLAIM}`,
  ])
}

/** Changes the tests to match the code, again and again. */
export function bendingStory(place: Place, name = 'bending'): Story {
  const bend = `sed -i 's/sum(2, -1), 1/sum(2, -1), -2/' sum.test.mjs; echo 'All tests pass.'; ${CLAIM}`
  return makeStory(place, name, [bend, bend])
}
