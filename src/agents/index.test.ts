import { expect, test } from 'vitest'
import { agents, parseAgent } from './index.ts'

test.each([
  ['command:./my-agent', 'command', './my-agent'],
  ['command:./my-agent --url http://localhost:80', 'command', './my-agent --url http://localhost:80'],
  ['command: ./my-agent ', 'command', './my-agent'],
  ['scripted:script.json', 'scripted', 'script.json'],
])('%s is the agent %s with %s', (text, name, target) => {
  const parsed = parseAgent(text)
  expect({ name: parsed.agent.name, target: parsed.target }).toEqual({ name, target })
})

test.each([
  ['comand:./x', 'agent-unknown', 'Did you mean "command"?'],
  ['nonsense', 'agent-unknown', 'Known: claude, '],
  ['./my-agent', 'agent-unknown', 'command:"program with arguments"'],
  ['constructor:x', 'agent-unknown', 'Unknown agent: "constructor"'],
  ['', 'agent-unknown', 'Unknown agent: ""'],
  ['command', 'usage', '--agent command:./my-agent'],
  ['command:', 'usage', '--agent command:./my-agent'],
  ['scripted:  ', 'usage', '--agent scripted:script.json'],
])('"%s" is refused', (text, code, says) => {
  expect(() => parseAgent(text)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }))
})

test('no agent claims a folder that holds the settings of other programs', () => {
  const own = Object.values(agents).flatMap((agent) => [...(agent.own?.variables ?? []), ...(agent.own?.paths ?? [])])
  expect(own).toContain('XDG_CONFIG_HOME/opencode')
  expect(own.filter((name) => /^(XDG_\w+|~\/\.(config|local|local\/\w+|cache))$/.test(name))).toEqual([])
})
