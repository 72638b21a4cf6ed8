/** The text of `/ralph:help` in a session. */
import type { Host } from './hosts.ts'

export function helpFor(host: Host): string {
  const { contexts, folder } = host
  const rows: [string, string][] = [
    [`${host.types('loop')} PROMPT [options]`, 'works on the prompt in a loop until it is done'],
    [host.types('status'), 'shows the state of the loop'],
    [`${host.types('steer')} WORDS`, 'tells the next iteration something without pausing'],
    [host.types('pause'), 'pauses the loop; the current turn is not counted'],
    [`${host.types('resume')} [LOOP]`, 'resumes the loop, or one from another session'],
    [
      `${host.types('resume')} --max-iterations N`,
      'resumes a loop that halted on a limit; also --timeout, --max-cost, --max-tokens',
    ],
    [host.types('cancel'), 'ends the loop'],
  ]
  const options: [string, string][] = [
    ['--verify CMD', "check that must pass, or auto for the project's own checks; may be repeated"],
    ['--completion-promise T', 'claim that the agent makes as <promise>T</promise>'],
    ['--max-iterations N', 'at most N iterations; 0: no limit (default: 10)'],
    ['--timeout MIN', 'at most MIN minutes in total'],
    ['--max-tokens N', 'at most N tokens in total, if the agent reports them'],
    ['--require GRADE', 'refuse a weaker proof: verified, tested or kept'],
    ['--protect GLOB', 'more files that count as tests; may be repeated'],
    ['--may-change GLOB', 'tests or configuration the agent may change; may be repeated'],
    ['--proof HOW', 'experiments behind the proof: full, seal or off'],
    ['--file F', 'read the prompt from file F'],
    ...(contexts.length > 1 ? [['--context C', contexts.join(', ')] as [string, string]] : []),
    ...(contexts.includes('process')
      ? [['--subagent NAME', 'with --context process: one of your agents'] as [string, string]]
      : []),
  ]
  const width = Math.max(...[...rows, ...options].map(([left]) => left.length)) + 2
  const print = (list: [string, string][]) => list.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n')
  return `ralph keeps this agent on one task until the task is proven done.\n\n${print(rows)}\n\nOptions, before or after the prompt:\n${print(options)}\n\nThe loop is a file you can edit: ${folder}/ralph-loop.local.md. Delete it to end the loop.`
}
