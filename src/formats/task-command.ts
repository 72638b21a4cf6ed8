/** What to type about a task of a vault. */
import { printCommandLine } from './command-line.ts'

/** `vault`: left out where it is found without being named. Options come before a `--`, behind which everything is a word. */
export function taskCommand(verb: string, task: string, vault?: string, ...options: string[]): string {
  const name = task.startsWith('-') ? ['--', task] : [task]
  const where = vault === undefined ? [] : ['--vault', vault]
  return printCommandLine(['ralph', 'task', verb, ...where, ...options, ...name])
}
