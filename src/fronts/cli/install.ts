/** `ralph install` and `ralph uninstall`: hooks and commands for loops inside an agent's session. */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { RalphError } from '../../error.ts'
import { quoteWord } from '../../formats/command-line.ts'
import { isObject, readJson } from '../../formats/json-file.ts'
import { nearest } from '../../formats/nearest.ts'
import { makeProgram, readPersonFile, targetOf } from '../../host/person-file.ts'
import { findProgram } from '../../host/process.ts'
import { PLACES, type Place } from '../../install/agents.ts'
import { type Exclusions, exclusionsOf } from '../../install/exclusions.ts'
import {
  alone,
  applyInstall,
  applyUninstall,
  groundOf,
  type Installation,
  listInstallations,
  openInstallation,
} from '../../install/installation.ts'
import { makeLinks, removeLinks } from '../../install/links.ts'
import { mcpWanted } from '../../install/mcp.ts'
import type { Scope, Site, Wanted } from '../../install/pieces.ts'
import { type Edit, isChange, planInstall, planUninstall } from '../../install/plan.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command, Context } from './context.ts'
import { askedForVault, refuseForeign } from './install-vault.ts'
import { confirm, nameOf, show } from './install-view.ts'
import { paint } from './text.ts'

const AGENTS = Object.keys(PLACES).join(', ')

const OPTIONS = {
  user: { help: 'in your own settings, for all folders (default)' },
  project: { help: 'in this folder only; kept out of commits' },
  mcp: { help: 'also register ralph as an MCP server, so that the agent can manage tasks and loops' },
  vault: { value: 'DIR', help: 'claude only: a Stop hook for the tasks of this vault' },
  yes: { help: 'do not ask for confirmation' },
} as const

const installSpec: CommandSpec = {
  name: 'install',
  words: 'AGENT [options]',
  summary: 'Adds ralph commands to an agent, so that loops can run inside its session.',
  about: `AGENT is one of ${AGENTS}.
ralph shows the changes and asks before it writes them. The rest of the agent's settings stays unchanged, and \`ralph uninstall\`
restores the originals. Run \`ralph install\` again if you move ralph or switch Node versions.`,
  options: OPTIONS,
  examples: [
    ['ralph install claude', 'then, in Claude Code: /ralph:loop Make the tests pass --verify "npm test"'],
    ['ralph install codex --project --yes', 'for this folder only, without asking'],
    ['ralph install claude --mcp', 'lets the agent create tasks and start and watch loops too: docs/mcp.md'],
    ['ralph install claude --vault ~/Vault', 'a session in the vault keeps working until its task file is in Done'],
  ],
}

const uninstallSpec: CommandSpec = {
  name: 'uninstall',
  words: 'AGENT [options]',
  summary: 'Removes what `ralph install` added.',
  about: `Unchanged files are restored byte for byte. In files you have changed since, only the parts added by ralph are removed.`,
  options: {
    user: { help: 'from your own settings, for all folders (default)' },
    project: { help: 'from this folder only' },
    vault: { value: 'DIR', help: 'claude only: the Stop hook for the tasks of this vault' },
    yes: OPTIONS.yes,
  },
}

export const install: Command = {
  spec: installSpec,
  async run(argv, context) {
    const asked = parseAsked(installSpec, argv, context)
    refuseTwice(asked, context)
    return alone(context.home, () => {
      const installation = openFor(asked, context)
      if (asked.site.scope === 'vault') refuseForeign(asked.site, installation)
      return installAgent(asked, installation, context)
    })
  },
}

export const uninstall: Command = {
  spec: uninstallSpec,
  async run(argv, context) {
    const asked = parseAsked(uninstallSpec, argv, context)
    return alone(context.home, () => uninstallAgent(asked, openFor(asked, context), context))
  },
}

type Asked = { args: Args; agent: string; place: Place; site: Site; folder: string; mcp: boolean }

function parseAsked(spec: CommandSpec, argv: readonly string[], context: Context): Asked {
  const args = parseArgs(spec, argv, 1)
  const [agent] = args.words
  if (agent === undefined) throw usage(spec, `Missing agent: one of ${AGENTS}.`)
  const place = Object.hasOwn(PLACES, agent) ? PLACES[agent] : undefined
  if (!place) {
    const close = nearest(agent, Object.keys(PLACES))
    throw usage(spec, `Unknown agent: "${agent}".${close ? ` Did you mean ${close}?` : ` Choose from ${AGENTS}.`}`)
  }
  if (args.flag('user') && args.flag('project')) throw usage(spec, 'Use either --user or --project, not both.')
  const vault = args.text('vault')
  const mcp = spec === installSpec && args.flag('mcp')
  if (vault !== undefined && mcp) throw usage(spec, 'Use either --vault or --mcp, not both.')
  if (vault !== undefined)
    return { args, agent, mcp, ...askedForVault(args, vault, siteOf(context, 'vault'), context.cwd) }
  const site = siteOf(context, args.flag('project') ? 'project' : 'user')
  if (site.scope === 'project' && site.project === targetOf(site.person))
    throw usage(spec, 'This is your home folder. To install for all folders, use --user.')
  const folder = resolve(place.folder(site))
  return { args, agent, place, site, folder, mcp }
}

/** A reinstall keeps the MCP server. */
function openFor({ agent, site, folder, mcp }: Asked, { home }: Context): Installation {
  const { record, ...installation } = openInstallation(home, { agent, scope: site.scope, folder })
  return { ...installation, record: mcp ? { ...record, mcp } : record }
}

export function siteOf({ env, cwd, home, root }: Context, scope: Scope): Site {
  const plugins = join(root, 'plugins')
  return {
    scope,
    home,
    env,
    person: env.HOME || homedir(),
    project: realpathSync(cwd),
    read: (path) => readPersonFile(path)?.bytes.toString(),
    plugin: (folder) => filesBelow(join(plugins, folder)),
  }
}

/** Empty if the folder is missing: a plugin may have no command files. */
function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {}
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    entries
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [path.slice(folder.length + 1).replaceAll(sep, '/'), readFileSync(path, 'utf8')]),
  )
}

/** Most agents would run the hooks of both installations. */
function refuseTwice({ agent, site, place }: Asked, { home }: Context): void {
  const others = listInstallations(home).filter((one) => one.agent === agent)
  if (site.scope !== 'project' || !others.some(({ scope }) => scope === 'user')) return
  throw new RalphError(
    'usage',
    `ralph is already installed for ${place.title} in all folders, including this one. To have it only here, run \`ralph uninstall ${agent}\` first.`,
  )
}

async function installAgent(asked: Asked, installation: Installation, context: Context): Promise<number> {
  const { agent, place, site, args } = asked
  const { out, home, root } = context
  const files = filesOf(asked, installation)
  const exclusions = await exclusionsFor(asked, files, home)
  const wanted = [...files, ...exclusions.wanted]
  const ground = groundOf(installation, home)
  const edits = planInstall(wanted, ground)
  const obsolete = planUninstall([], [], {
    ...ground,
    memory: new Map([...ground.memory].filter(([path]) => wanted.every((want) => want.path !== path))),
  })
  const changes = [...obsolete, ...edits].filter(isChange)
  show(context, changes)
  if (changes.length > 0) await confirm(args, context)
  const refreshed = makeLinks({ home, root, node: process.execPath })
  if (changes.length === 0 && installation.known) {
    const started = makePrograms(files)
    for (const path of started) out.write(`${nameOf(path, site)} is executable again.\n`)
    const nothing = started.length > 0 ? 'Nothing else' : 'Nothing'
    const what = refreshed ? `The links in ${home} were rebuilt; nothing else` : nothing
    out.write(`${what} to do: ralph is already installed for ${place.title}.\n`)
    return 0
  }
  const kept = applyInstall(installation, edits, obsolete)
  makePrograms(files)
  for (const { path, copy } of kept) out.write(`Your version of ${nameOf(path, site)} is kept in ${copy}.\n`)
  out.write(`${paint(out, 'green', '✓')} ralph is installed for ${place.title}, ${scopeWords(site)}.\n`)
  for (const line of notes(asked, context, exclusions.tracked, edits)) out.write(`  ${line}\n`)
  if (place.command) out.write(`  Then type: ${place.command} Make the tests pass --verify "npm test"\n`)
  out.write(`  To undo this: ralph uninstall ${agent}${optionOf(site)}\n`)
  return 0
}

/** Returns the files that were not executable before. */
function makePrograms(files: readonly Wanted[]): string[] {
  return files.flatMap((file) => (file.kind === 'own' && file.program && makeProgram(file.path) ? [file.path] : []))
}

async function uninstallAgent(asked: Asked, installation: Installation, context: Context): Promise<number> {
  const { agent, place, site, folder, args } = asked
  const { out, home } = context
  const files = filesOf(asked, installation)
  const excluded = (await exclusionsFor(asked, files, home)).wanted
  const ground = groundOf(installation, home)
  const planned = planUninstall([...files, ...excluded], place.elsewhere?.(folder) ?? [], ground)
  const edits = place.forgets?.(planned, site, folder, ground) ?? planned
  const changes = edits.filter(isChange)
  const left = edits.filter((edit) => edit.left)
  if (changes.length === 0 && left.length === 0 && !installation.known) {
    out.write(
      `Nothing to do: ralph is not installed for ${place.title} ${whereWords(site)}.${elsewhere(agent, home)}\n`,
    )
    removeWhenLast(home)
    return 0
  }
  show(context, changes)
  if (changes.length > 0) await confirm(args, context)
  const kept = applyUninstall(installation, edits)
  for (const { path } of changes.filter(({ changed, kind }) => changed && kind !== 'lines'))
    out.write(`${nameOf(path, site)} has changed since it was installed: only the parts added by ralph were removed.\n`)
  for (const { path } of left)
    out.write(`${nameOf(path, site)} has changed since it was installed, so it is left as it is.\n`)
  for (const { path, copy } of kept) out.write(`The original ${nameOf(path, site)} is kept in ${copy}.\n`)
  out.write(`${paint(out, 'green', '✓')} Removed ralph from ${place.title}, ${scopeWords(site)}.\n`)
  removeWhenLast(home)
  return 0
}

/** Some agents keep hooks and MCP servers in the same settings file: then both go into one. */
function filesOf({ agent, place, site, folder }: Asked, { record }: Installation): Wanted[] {
  const files = place.wanted(site, folder)
  if (!record.mcp) return files
  const server = mcpWanted(agent, site, folder)
  const same = files.findIndex(({ path }) => path === server.path)
  const known = files[same]
  if (known?.kind !== 'settings' || server.kind !== 'settings') return [...files, server]
  return files.with(same, { ...known, entries: [...known.entries, ...server.entries] })
}

async function exclusionsFor({ site, folder }: Asked, files: readonly Wanted[], home: string): Promise<Exclusions> {
  if (site.scope === 'user') return { wanted: [], tracked: [] }
  const others = listInstallations(home).filter((one) => one.folder === folder && one.scope !== site.scope)
  return exclusionsOf(
    site.project,
    files,
    others.flatMap((one) => one.files),
  )
}

function removeWhenLast(home: string): void {
  if (listInstallations(home).length === 0) removeLinks(home)
}

function elsewhere(agent: string, home: string): string {
  const others = listInstallations(home).filter((one) => one.agent === agent)
  const where = others.map(({ scope, folder }) =>
    scope === 'project' ? `${folder} (run it there with --project)` : `${folder} (--${scope})`,
  )
  return others.length === 0 ? '' : ` It is installed in ${where.join(', ')}.`
}

function notes(
  { agent, place, site }: Asked,
  { env, cwd, home, root }: Context,
  tracked: readonly string[],
  edits: readonly Edit[],
): string[] {
  const found = place.programs.some((program) => findProgram(program, cwd, env.PATH) !== undefined)
  const installed = listInstallations(home)
  const projects = installed.filter((one) => one.agent === agent && one.scope === 'project')
  return [
    ...(found ? [] : [`Note: ${place.programs[0]} is not in your PATH. ralph is ready once you install it.`]),
    ...(root.split(sep).includes('_npx')
      ? [
          'Note: this ralph is in the npx cache, which may be cleared. Run `npm install -g ralphloop`, then install again.',
        ]
      : []),
    ...tracked.map((path) => `Note: ${path} is tracked by git and now contains a path on this machine.`),
    ...(site.scope === 'user'
      ? projects.map(
          ({ folder }) =>
            `Note: ralph is also installed in ${folder}, where hooks may now run twice. Run \`ralph uninstall ${agent} --project\` there.`,
        )
      : []),
    ...(edits.some(({ next }) => next && isOff(next))
      ? ['Note: hooks are turned off in these settings, so ralph will not work until you turn them on.']
      : []),
    ...place.afterwards(site, installed),
  ]
}

/** The settings with which agents let the user turn off all hooks. */
function isOff(settings: Buffer): boolean {
  const read = readJson(settings.toString())
  const value = 'value' in read && isObject(read.value) ? read.value : {}
  const config = isObject(value.hooksConfig) ? value.hooksConfig : {}
  return value.disableAllHooks === true || value.hooksDisabled === true || config.enabled === false
}

function optionOf({ scope, project }: Site): string {
  if (scope === 'vault') return ` --vault ${quoteWord(project)}`
  return scope === 'project' ? ' --project' : ''
}

/** Where it is not installed. */
function whereWords(site: Site): string {
  if (site.scope === 'vault') return scopeWords(site)
  return site.scope === 'user' ? 'in your own settings' : `in ${site.project}`
}

function scopeWords({ scope, project }: Site): string {
  if (scope === 'vault') return `for the tasks in ${project}`
  return scope === 'user' ? 'in all folders' : `in ${project} only`
}
