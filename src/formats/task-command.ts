/** What to type about a task of a vault. */
import { printCommandLine } from './command-line.ts'

/** `vault`: left out where it is found without being named. */
export function taskCommand(verb: string, task: string, vault?: string): string {
  const name = task.startsWith('-') ? ['--', task] : [task]
  return printCommandLine(['ralph', 'task', verb, ...(vault === undefined ? [] : ['--vault', vault]), ...name])
}
