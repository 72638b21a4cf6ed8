/** What every adapter must read from what its real client printed. Each adapter's test file calls this. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Agent, AgentEvent, Exit, Outcome, Request } from './agent.ts'

export const request: Request = {
  prompt: 'Work.',
  mode: 'headless',
  permissions: 'bypass',
  sandbox: false,
  target: '',
  extraArgs: [],
  dir: '/home/somebody/project',
  folder: '/home/somebody',
  self: () => [],
  at: Date.UTC(2026, 0, 1),
}

type Entry = { out?: string; err?: string; file?: string; text?: string; exit?: Exit }

function entriesOf(agent: Agent, scene: string): Entry[] {
  const file = join(import.meta.dirname, 'fixtures', agent.name, `${scene}.jsonl`)
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line ? [JSON.parse(line) as Entry] : []))
}

/** Plays what the real client printed. */
export function play(
  agent: Agent,
  scene: string,
  changed: Partial<Request> = {},
): { outcome: Outcome; events: AgentEvent[] } {
  return playEntries(agent, entriesOf(agent, scene), changed)
}

function playEntries(agent: Agent, entries: readonly Entry[], changed: Partial<Request> = {}) {
  const parser = agent.parser({ ...request, ...changed })
  const events: AgentEvent[] = []
  const files = new Map<string, string>()
  let exit: Exit = { code: null, signal: 'SIGKILL' }
  for (const { out, err, file, text = '', exit: ended } of entries) {
    if (ended) exit = ended
    else if (file !== undefined) files.set(file, text)
    else events.push(...parser.push(out ?? err ?? '', out === undefined ? 'err' : 'out').events)
  }
  return { outcome: parser.end(exit, files), events }
}

/** `kinds` has a row for every recorded scene; `usage`: what the scene `ok` used. */
export function conformance(
  agent: Agent,
  kinds: Record<string, Outcome['kind']>,
  usage: { tokens: number; calls?: number; costUsd?: number },
): void {
  describe(agent.name, () => {
    test.each(Object.entries(kinds))('%s is %s', (scene, kind) => {
      expect(play(agent, scene).outcome.kind).toBe(kind)
    })

    test('the final text is its last word, with its usage', () => {
      const { outcome, events } = play(agent, 'ok')
      expect(outcome).toMatchObject({
        finalText: 'All done.\n\n<promise>COMPLETE</promise>',
        tokens: usage.tokens,
        denied: [],
        session: { id: expect.stringMatching(/\S/) },
      })
      expect(outcome.usage).toEqual({ input: 200, cached: 0, output: 40 })
      expect(outcome.ran.join('\n')).toContain('echo hi > f.txt')
      expect(outcome.calls).toBe(usage.calls)
      if (usage.costUsd === undefined) expect(outcome.costUsd).toBeUndefined()
      else expect(outcome.costUsd).toBeCloseTo(usage.costUsd, 6)
      expect(events.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['session', 'tool', 'text']))
    })

    test('what a tool prints is not the final text', () => {
      expect(play(agent, 'promise-in-tool').outcome.finalText).toBe('I looked around.')
    })

    test('a recording that is cut off anywhere is no success', () => {
      const entries = entriesOf(agent, 'ok').filter(({ exit, file }) => !exit && file === undefined)
      for (let length = 0; length < entries.length; length++)
        expect(playEntries(agent, entries.slice(0, length)).outcome.kind).not.toBe('ok')
      expect(playEntries(agent, [{ exit: { code: 0, signal: null } }]).outcome.kind).not.toBe('ok')
    })

    test('a client that ralph stopped was killed', () => {
      for (const stopped of ['silent', 'deadline', 'told'] as const)
        expect(playEntries(agent, [{ exit: { code: 143, signal: null, stopped } }]).outcome.kind).toBe('killed')
    })

    test.each([
      '',
      '{',
      '{"type":"from-the-future"}',
      '{"type":null}',
      '[]',
      'null',
      '"text"',
      '\u001b[2J',
      'plain words',
    ])('ignores %j', (line) => {
      const entries = entriesOf(agent, 'ok')
      const { outcome } = playEntries(agent, [{ out: line }, { err: line }, ...entries])
      expect(outcome.kind).toBe('ok')
    })

    test('the prompt goes to its standard input, never to its command line', () => {
      const { argv, stdin, dialogue } = agent.command({ ...request, prompt: '--help; rm -rf /' })
      expect(argv.join(' ')).not.toContain('rm -rf')
      if (!dialogue) expect(stdin).toContain('--help; rm -rf /')
    })

    test('its own arguments, model and permissions reach the command line', () => {
      const line = (changed: Partial<Request>) => agent.command({ ...request, ...changed }).argv
      expect(line({ extraArgs: ['--of-its-own'] })).toContain('--of-its-own')
      if (agent.settings.includes('model')) expect(line({ model: 'some-model' }).join(' ')).toContain('some-model')
      if (agent.bypass) {
        const flags = agent.bypass.split(' ')
        expect(line({})).toEqual(expect.arrayContaining(flags))
        expect(line({ permissions: 'ask' })).not.toEqual(expect.arrayContaining(flags))
      }
      if (agent.settings.includes('context'))
        expect(line({ resume: { id: 'session-7', costUsd: 0 } }).join(' ')).toContain('session-7')
    })
  })
}
