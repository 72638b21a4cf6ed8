/** config.yaml: `ralph:` sets how every loop runs, `agents:` lists the dispatcher's agents. */
import { isMap } from 'yaml'
import { COMMAND, type Config, isCommand, type Keys, keysOf } from './config.ts'
import { isTexts } from './json-file.ts'
import { nearest } from './nearest.ts'
import {
  type Entry,
  entriesOf,
  type Found,
  itemsOf,
  parseYamlFile,
  placeOf,
  wrongAt,
  type YamlFile,
} from './yaml-file.ts'
import { readMapping, type Shape } from './yaml-keys.ts'

export type RalphSettings = Omit<
  Config,
  'circuit_breaker' | 'state_dir' | 'done_folder' | 'check_interval_seconds' | 'quiet_seconds'
> & {
  enabled?: boolean
  /** A limit shared by all agents. */
  max_total_cost_usd?: number
  circuit_breaker?: NonNullable<Config['circuit_breaker']> & { cooldown_minutes?: number }
}

export type AgentSettings = {
  name: string
  /** As `--agent` takes it. */
  agent?: string
  dir?: string
  worktree?: boolean
  model?: string
  permissions?: 'ask' | 'bypass'
  args?: string[]
  checks?: string[]
  setup?: string
  ralph?: Omit<RalphSettings, 'max_total_cost_usd' | 'agent' | 'notify_webhook'>
  /** Its line in the file. Absent: it is not from a file. */
  line?: number
}

export type CrewConfig = { ralph: RalphSettings; agents: AgentSettings[] }

/** Unknown keys and invalid values are errors, so that a misspelt limit is never silently ignored. */
export function parseCrewConfig(text: string, file: string): CrewConfig {
  const yaml = parseYamlFile(text, file)
  const sections = sectionsOf(yaml)
  for (const { key, keyAt, what } of sections) {
    // Other keys belong to other programs; allowing two wrong letters would match `graph` and `events`.
    const meant = SECTIONS.includes(key) ? undefined : nearest(key, SECTIONS, 1)
    if (meant) throw wrongAt(yaml, keyAt, `${what} is unknown; did you mean "${meant}"?`)
  }
  return { ralph: readRalph(yaml, sections), agents: readAgents(yaml, sections) }
}

/** The `ralph:` section of a file; the rest is ignored. */
export function parseRalphSection(text: string, file: string): RalphSettings {
  const yaml = parseYamlFile(text, file)
  return readRalph(yaml, sectionsOf(yaml))
}

const SECTIONS: readonly string[] = ['ralph', 'agents']

function sectionsOf(yaml: YamlFile): Entry[] {
  // ralph finds its sections by their first lines.
  if (isMap(yaml.top.node) && yaml.top.node.flow)
    throw wrongAt(yaml, yaml.top.node.range[0], 'the file must not be wrapped in braces. Put each key on its own line.')
  return entriesOf(yaml, yaml.top, (key) => key)
}

function readRalph(yaml: YamlFile, sections: readonly Entry[]): RalphSettings {
  const found = sections.find(({ key }) => key === 'ralph')
  return found ? readSettings(yaml, found, { nameOf: (key) => `ralph.${key}` }) : {}
}

function readSettings(yaml: YamlFile, found: Found, shape: Pick<Shape, 'nameOf' | 'misplaced'>): RalphSettings {
  const { top, breaker } = keysOf('config.yaml')
  const { circuit_breaker: _, ...keys } = top
  const nameOf = (key: string) => shape.nameOf(`circuit_breaker.${key}`)
  const nested = { circuit_breaker: (entry: Entry) => readMapping(yaml, entry, { keys: breaker, nameOf }) }
  return readMapping(yaml, found, { ...shape, keys, nested })
}

function readAgents(yaml: YamlFile, sections: readonly Entry[]): AgentSettings[] {
  const found = sections.find(({ key }) => key === 'agents')
  const items = found ? itemsOf(yaml, found, (position) => `agent ${position}`) : []
  const owners = new Map<string, string>()
  return items.map((item) => {
    const agent = readAgent(yaml, item)
    const folded = agent.name.toLowerCase()
    const owner = owners.get(folded)
    if (owner) throw wrongAt(yaml, item.at, `${item.what} is named "${agent.name}", as is ${owner}. ${NAMES}`)
    owners.set(folded, item.what)
    return agent
  })
}

const NAMES = 'Names must be unique, ignoring case.'

function readAgent(yaml: YamlFile, item: Found): AgentSettings {
  const nameOf = (key: string) => `${key} of ${item.what}`
  const inRalph = { nameOf: (key: string) => nameOf(`ralph.${key}`), misplaced: OF_ALL }
  const nested = { ralph: (entry: Entry) => readSettings(yaml, entry, inRalph) }
  const { folder, checks, ...others } = readMapping(yaml, item, { keys: AGENT_KEYS, nested, nameOf })
  if (others.name === undefined) throw wrongAt(yaml, item.at, `${item.what} has no name. Add "name: …".`)
  const agent = {
    ...others,
    ...(folder === undefined ? {} : { dir: folder }),
    ...(checks === undefined ? {} : { checks: typeof checks === 'string' ? [checks] : checks }),
    line: placeOf(yaml, item.at).line,
  }
  return agent as AgentSettings // every value matches its key
}

/** What an agent name must be. */
export const AGENT_NAME = 'up to 31 letters, digits, "_" and "-", and not just digits'

export function isAgentName(text: string): boolean {
  return /^(?!\d+$)[A-Za-z0-9][\w-]{0,30}$/.test(text)
}

const AGENT_KEYS: Keys = {
  name: { fits: (value) => typeof value === 'string' && isAgentName(value), expected: AGENT_NAME },
  agent: { fits: isLine, expected: 'an agent, as for --agent' },
  folder: { fits: isLine, expected: 'the path of a folder' },
  worktree: { fits: (value) => typeof value === 'boolean', expected: 'true or false' },
  model: { fits: isLine, expected: 'the name of a model' },
  permissions: { fits: (value) => value === 'ask' || value === 'bypass', expected: 'ask or bypass' },
  args: {
    fits: (value) => isTexts(value) && !value.some((text) => text.includes('\0')),
    expected: 'a list of strings',
  },
  checks: {
    fits: (value) => isCommand(value) || (isTexts(value) && value.every(isCommand)),
    expected: 'a command or a list of commands',
    item: COMMAND,
  },
  setup: { fits: isCommand, expected: COMMAND },
}

/** Not blank. */
function isLine(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '' && !/\p{Cc}/u.test(value)
}

/** Keys of `ralph:` that a single agent cannot have. */
const OF_ALL: Readonly<Record<string, string>> = {
  agent: 'Write "agent: …" next to the name.',
  max_total_cost_usd: 'It applies to all agents together: move it to the "ralph:" section.',
  notify_webhook: 'It applies to all agents: move it to the "ralph:" section.',
}
