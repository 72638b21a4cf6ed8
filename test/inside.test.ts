/** An agent inside a loop that reports through MCP, with the built ralph on both sides. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { makePlace, type Place, query, type Ran } from './ralph.ts'
import type { Call } from './reporting-agent.ts'

const AGENT = `command:${process.execPath} ${resolve(import.meta.dirname, 'reporting-agent.ts')}`

type Reported = Ran & { place: Place; answers: Record<string, unknown>[] }

async function run(turns: Call[][], ...args: string[]): Promise<Reported> {
  const place = makePlace()
  writeFileSync(join(place.root, 'calls.json'), JSON.stringify(turns))
  const ran = await place.ralph(['run', 'Build it', '--agent', AGENT, '--mcp', '--json', ...args])
  const answers = join(place.root, 'answers.json')
  return { ...ran, place, answers: existsSync(answers) ? JSON.parse(readFileSync(answers, 'utf8')) : [] }
}

test('a stage that is reported is checked: a lie is refused, the work is verified', async () => {
  const report = { tool: 'report_stage', input: { stage: 'TESTS', evidence: 'I ran them.' } }
  const { code, end, answers, place, lines } = await run(
    [
      [{ list: true }, report],
      [{ write: 'done.txt' }, { tool: 'get_context' }, report],
    ],
    '--stage',
    'TESTS=test -e done.txt',
  )
  expect({ code, end }).toMatchObject({ code: 0, end: { status: 'completed', proof: 'verified', false_claims: 1 } })
  expect(answers[0]).toEqual(['report_stage', 'report_blocked', 'ask_human', 'create_task', 'get_context'])
  expect(answers[1]).toMatchObject({ isError: false, recorded: true })
  expect(answers[2]).toMatchObject({
    task: 'Build it',
    iteration: 2,
    of: 10,
    stages: [{ name: 'TESTS', passed: false, check: 'test -e done.txt' }],
    checks: [{ check: 'test -e done.txt', before: 'fail', last: 'fail' }],
    feedback: [expect.any(String), expect.any(String)],
  })
  const id = String(lines[0]?.loop_id)
  const [turned] = query(place, "SELECT fact FROM event WHERE fact LIKE '%turned%' ORDER BY n")
  expect(JSON.parse(String(turned?.fact)).turn).toMatchObject({
    claim: { kind: 'clear', stage: 'TESTS' },
    reports: [{ kind: 'stage', stage: 'TESTS', evidence: 'I ran them.' }],
  })
  const transcript = readFileSync(join(place.home, 'transcripts', id, '1.jsonl'), 'utf8')
  expect(transcript).toContain('report_stage')
  expect(transcript).not.toContain('RALPH_MCP_TOKEN')
})

test('a question stops the loop for a person, and the answer reaches the next turn', async () => {
  const { code, end, place, lines } = await run(
    [[{ tool: 'ask_human', input: { question: 'Red or blue?' } }], [{ write: 'done.txt' }, { tool: 'get_context' }]],
    '--until',
    'test -e done.txt',
  )
  expect({ code, end }).toMatchObject({ code: 4, end: { status: 'needs-input' } })
  expect(JSON.stringify(end)).toContain('Red or blue?')
  const steered = await place.ralph(['steer', String(lines[0]?.loop_id), 'Blue.'])
  expect(steered.code).toBe(0)
  expect(readFileSync(join(place.root, 'answers.json'), 'utf8')).toContain('Blue.')
})

test('a pass counts only in its own turn', async () => {
  const kept = join(makePlace().root, 'kept.json')
  const stale = { tool: 'report_stage', input: { evidence: 'It is done.' }, config: kept }
  const { answers, end, place } = await run([[{ keep: kept }], [stale]], '--max-iterations', '2', '--no-progress', '9')
  expect(answers).toMatchObject([{ isError: true, error: { code: 'pass-invalid' } }])
  expect(end).toMatchObject({ status: 'halted', reason: 'max-iterations' })
  expect(query(place, 'SELECT * FROM report')).toEqual([])
})

test.each([
  [['--agent', 'pi'], 'the agent "pi" does not support an MCP server'],
  [['--agent', 'command:true', '--sandbox'], 'an agent in a sandbox cannot write its reports'],
])('--mcp with %j is refused', async (args, words) => {
  const place = makePlace()
  place.write('pi', '#!/bin/sh\n', 0o755)
  const env = { PATH: `${place.dir}:${place.env.PATH}` }
  const ran = await place.ralph(['run', 'Build it', '--mcp', ...args], { env })
  expect(ran).toMatchObject({ code: 2, stderr: expect.stringContaining(words) })
})
