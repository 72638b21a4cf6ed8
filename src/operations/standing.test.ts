import { describe, expect, test } from 'vitest'
import { idles, isDenied, loopAfter, specOf, times } from '../engine/stories.test-support.ts'
import { standingOf } from './standing.ts'

const by = (agent: string, permissions: 'ask' | 'bypass' = 'ask') =>
  specOf({ work: { ...specOf().work, agent, permissions } })

describe('a permission that was denied', () => {
  const denied = (agent: string, permissions?: 'ask' | 'bypass') =>
    standingOf(loopAfter(by(agent, permissions), isDenied('Bash: rm x'), isDenied('Bash: rm x')))

  test('is named, and the hint says how to grant it', () => {
    expect(denied('claude')).toEqual({
      kind: 'asks',
      sentence: 'needs input after 2 iterations. The agent was denied permission twice: Bash: rm x',
      hint: 'Allow it with permissions.allow in .claude/settings.json, such as "Bash(npm test)", then: ralph resume L1 · to allow everything, start it with --permissions bypass · to continue without it: ralph steer L1 "…"',
    })
  })

  test.each([
    ['codex', 'sandbox_mode = "workspace-write" in ~/.codex/config.toml'],
    ['gemini', '~/.gemini/policies'],
    ['qwen', 'permissions.allow in .qwen/settings.json'],
    ['copilot', 'Allow it: start it with -- --allow-tool "shell(npm test)"'],
    ['opencode', '"permission": {"bash": "allow"} in opencode.json'],
    ['droid', '-- --auto medium'],
  ])('%s knows where', (agent, setting) => {
    expect(denied(agent).hint).toContain(setting)
  })

  test('with bypassed permissions, only its own settings can deny one', () => {
    expect(denied('claude', 'bypass').hint).toBe(
      'The agent\'s own settings deny it. Change permissions.allow in .claude/settings.json, such as "Bash(npm test)", then: ralph resume L1 · to continue without it: ralph steer L1 "…"',
    )
  })

  test('an agent without a known setting', () => {
    expect(denied('command:./agent').hint).toBe(
      'Allow it in the agent\'s settings, then: ralph resume L1 · to continue without it: ralph steer L1 "…"',
    )
  })
})

describe('no progress', () => {
  const halted = (agent: string, permissions: 'ask' | 'bypass') =>
    standingOf(loopAfter(by(agent, permissions), ...times(3, idles))).sentence

  test.each(['gemini', 'qwen'])('of %s, which hides tools that need approval, explains that', (agent) => {
    expect(halted(agent, 'ask')).toMatch(
      /^halted \(no-progress\) after 3 iterations\. .* With --permissions ask, .* hides tools that need approval, such as the shell/,
    )
    expect(halted(agent, 'bypass')).not.toContain('--permissions')
  })

  test('of others has no explanation', () => {
    expect(halted('claude', 'ask')).not.toContain('--permissions')
  })
})
