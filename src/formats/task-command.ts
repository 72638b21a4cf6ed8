/** Builds `ralph task` commands for a vault's task. */
import { printCommandLine } from './command-line.ts'

/** `vault`: omitted if it is found anyway. Options come before `--`, after which everything is an argument. */
export function taskCommand(verb: string, task: string, vault?: string, ...options: string[]): string {
  const name = task.startsWith('-') ? ['--', task] : [task]
  const where = vault === undefined ? [] : ['--vault', vault]
  return printCommandLine(['ralph', 'task', verb, ...where, ...options, ...name])
}
