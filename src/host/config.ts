/** The settings that hold in a folder. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { type Config, parseConfig } from '../formats/config.ts'

/** Settings of the project beat those of the person. */
export function loadConfig(home: string, dir: string): Config {
  return { ...readConfig(join(home, 'ralph.config.json')), ...readConfig(join(dir, 'ralph.config.json')) }
}

/** Nothing is said by a file that is not there. */
export function readConfig(path: string): Config {
  return existsSync(path) ? parseConfig(readText(path, 'config'), path) : {}
}

/** `what` names the file in the sentence for one that is missing or is none. */
export function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new RalphError('input-invalid', `The ${what} file ${path} cannot be read. It must be a readable text file.`, {
      cause,
    })
  }
}
