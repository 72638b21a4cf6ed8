import { expect, test } from 'vitest'
import { request } from './conformance.test-support.ts'
import { agents } from './index.ts'

const OPEN: Record<string, string[]> = {
  claude: ['claude'],
  codex: ['codex'],
  copilot: ['copilot'],
  gemini: ['gemini'],
  opencode: ['opencode'],
  pi: ['pi'],
  qwen: ['qwen'],
  droid: ['droid'],
  kilo: ['kilo'],
  command: ['./my-agent', '--flag'],
}

test.each(Object.entries(OPEN))('%s without a prompt waits for the user', (name, argv) => {
  const target = name === 'command' ? './my-agent --flag' : ''
  const opened = agents[name]?.command({ ...request, mode: 'interactive', permissions: 'ask', prompt: '', target })
  expect(opened).toMatchObject({ argv, stdin: '' })
})

const RESUMED: Record<string, string[]> = {
  claude: ['claude', '--resume', 's'],
  codex: ['codex', 'resume', 's'],
  copilot: ['copilot', '--resume=s'],
  gemini: ['gemini', '--resume', 's'],
  opencode: ['opencode', '--session', 's'],
  pi: ['pi', '--session', 's'],
  qwen: ['qwen', '--resume', 's'],
  droid: ['droid', '--resume', 's'],
  kilo: ['kilo', '--session', 's'],
}

test.each(Object.entries(RESUMED))('%s resumes a session without a prompt', (name, argv) => {
  const resume = { id: 's', costUsd: 0 }
  const opened = agents[name]?.command({ ...request, mode: 'interactive', permissions: 'ask', prompt: '', resume })
  expect(opened?.argv).toEqual(argv)
})
