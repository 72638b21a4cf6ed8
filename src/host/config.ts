/** The settings that apply in a folder. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { type Config, parseConfig } from '../formats/config.ts'
import { parseRalphSection } from '../formats/crew-config.ts'
import { hasRalphSection } from '../formats/ralph-section.ts'
import { mustBeTrusted } from './config-trust.ts'
import { codeOf } from './plain-words.ts'

/**
 * Settings of the project override those of the person, key by key. Throws if a loop changed them and nobody has
 * agreed.
 */
export function loadConfig(home: string, dir: string): Config {
  mustBeTrusted(home, dir)
  return [...configsIn(dir), ...configsIn(home)].map(({ config }) => config).reduceRight(merge)
}

/** What the files of a folder say, the strongest first. A missing file says nothing. */
export function configsIn(folder: string): { path: string; config: Config }[] {
  const [json, yaml] = [join(folder, 'ralph.config.json'), join(folder, 'config.yaml')]
  return [
    { path: json, config: existsSync(json) ? parseConfig(readText(json, 'config'), json) : {} },
    { path: yaml, config: readYaml(yaml) },
  ]
}

/** Many programs have a config.yaml: one without a line for ralph is theirs, whatever it contains. */
function readYaml(path: string): Config {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return {}
  const text = readText(path, 'config')
  return hasRalphSection(text) ? parseRalphSection(text, path) : {}
}

function merge(weaker: Config, stronger: Config): Config {
  const circuit_breaker = { ...weaker.circuit_breaker, ...stronger.circuit_breaker }
  const isSet = Object.keys(circuit_breaker).length > 0
  return { ...weaker, ...stronger, ...(isSet ? { circuit_breaker } : {}) }
}

/** `what` names the file in the error for one that is missing or is not a file. */
export function readText(path: string, what: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const why = codeOf(cause) === 'ENOENT' ? 'does not exist.' : 'cannot be read. It must be a readable text file.'
    throw new RalphError('input-invalid', `The ${what} file ${path} ${why}`, { cause })
  }
}
