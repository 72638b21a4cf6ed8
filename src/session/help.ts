/** What `/ralph:help` says in a session. */
import type { Host } from './hosts.ts'

export function helpFor(host: Host): string {
  const { contexts, folder } = host
  const rows: [string, string][] = [
    [`${host.types('loop')} PROMPT [options]`, 'works on the prompt again and again until it is done'],
    [host.types('status'), 'shows how the loop stands'],
    [`${host.types('steer')} WORDS`, 'tells the next iteration something; the loop does not pause'],
    [host.types('pause'), 'pauses the loop; the turn under way is not counted'],
    [`${host.types('resume')} [LOOP]`, 'goes on, also with a loop of another session'],
    [
      `${host.types('resume')} --max-iterations N`,
      'goes on with a loop that halted on a limit; also --timeout, --max-cost, --max-tokens',
    ],
    [host.types('cancel'), 'ends the loop'],
  ]
  const options: [string, string][] = [
    ['--verify CMD', 'a command that proves the work; ralph runs it itself. Give several, or auto'],
    ['--completion-promise T', 'the agent says it is done with <promise>T</promise>'],
    ['--max-iterations N', 'default 10; 0 is no limit'],
    ['--timeout MIN', 'minutes in all'],
    ['--max-tokens N', 'tokens in all, as far as the agent tells them'],
    ['--require GRADE', 'refuse a weaker proof: verified, tested or kept'],
    ['--protect GLOB', 'files that count as tests besides those ralph knows. Give several'],
    ['--may-change GLOB', 'tests or configuration that the agent is meant to change. Give several'],
    ['--proof HOW', 'experiments that back the proof: full, seal or off'],
    ['--file F', 'the prompt is in a file'],
    ...(contexts.length > 1 ? [['--context C', contexts.join(', ')] as [string, string]] : []),
    ...(contexts.includes('process')
      ? [['--subagent NAME', 'with --context process: one of your agents'] as [string, string]]
      : []),
  ]
  const width = Math.max(...[...rows, ...options].map(([left]) => left.length)) + 2
  const print = (list: [string, string][]) => list.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
  return `ralph keeps this agent at one task until the task is proven done.\n\n${print(rows)}\n\nOptions, before or behind the prompt:\n${print(options)}\n\nThe loop is a file you can edit: ${folder}/ralph-loop.local.md. Deleting it ends the loop.`
}
