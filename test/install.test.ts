/** `ralph install` and `ralph uninstall` as users see them, in a home and a project of their own. */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { commitAll, LAUNCHER, makePlace, type Place } from './ralph.ts'
import { hasTmux, openTerminal } from './tmux.ts'

const AGENTS = ['claude', 'codex', 'gemini', 'opencode', 'copilot', 'qwen', 'droid', 'cursor', 'pi']
const CASES = AGENTS.flatMap((agent) => [[agent, '--user'] as const, [agent, '--project'] as const])

const OTHERS =
  '{\r\n    "theme": "dark",\r\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}\r\n}'

const person = ({ root }: Place) => join(root, 'home')
const settingsOf = (place: Place) => join(person(place), '.claude', 'settings.json')

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** All files of the user and the project, with their contents. */
function snapshot(place: Place): object {
  return Object.fromEntries(
    [person(place), place.dir].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .sort()
        .filter((path) => !path.startsWith('.git/') || path === '.git/info/exclude')
        .map((path) => {
          const stat = lstatSync(join(folder, path))
          const what = stat.isDirectory()
            ? ''
            : stat.isSymbolicLink()
              ? readlinkSync(join(folder, path))
              : readFileSync(join(folder, path), 'latin1')
          return [join(folder, path), `${stat.mode.toString(8)} ${what}`]
        }),
    ),
  )
}

describe.concurrent('an MCP server', () => {
  const files: Readonly<Record<string, readonly [user: string, project: string]>> = {
    claude: ['.claude.json', '.mcp.json'],
    codex: ['.codex/config.toml', '.codex/config.toml'],
    gemini: ['.gemini/settings.json', '.gemini/settings.json'],
    opencode: ['.config/opencode/opencode.json', '.opencode/opencode.json'],
    copilot: ['.copilot/mcp-config.json', ''],
    qwen: ['.qwen/settings.json', '.qwen/settings.json'],
    droid: ['.factory/mcp.json', '.factory/mcp.json'],
    cursor: ['.cursor/mcp.json', '.cursor/mcp.json'],
  }
  const cases = Object.entries(files).flatMap(([agent, [user, project]]) => [
    [agent, '--user', user] as const,
    ...(project ? [[agent, '--project', project] as const] : []),
  ])

  test.each(cases)('%s %s: is added next to what is there, stays, and is removed', async (agent, scope, file) => {
    const place = makePlace()
    const path = join(scope === '--user' ? person(place) : place.dir, file)
    const others = agent === 'codex' ? 'model = "x"\n' : '{"theme": "dark", "mcpServers": {"mine": {"command": "x"}}}\n'
    put(path, others)
    const before = snapshot(place)
    expect(await place.ralph(['install', agent, scope, '--mcp', '--yes'])).toMatchObject({ code: 0, stderr: '' })
    const written = readFileSync(path, 'utf8')
    expect(written).toContain(join(place.home, 'package', 'bin', 'ralph.cjs'))
    expect(written).toContain(place.home)
    if (agent !== 'codex') expect(JSON.parse(written)).toMatchObject(JSON.parse(others))
    expect((await place.ralph(['install', agent, scope])).stdout).toMatch(/^Nothing to do: /)
    expect(readFileSync(path, 'utf8')).toBe(written)
    expect(await place.ralph(['uninstall', agent, scope, '--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(snapshot(place)).toEqual(before)
  })

  test('is removed alone from a file that its agent has written since', async () => {
    const place = makePlace()
    const path = join(person(place), '.claude.json')
    await place.ralph(['install', 'claude', '--mcp', '--yes'])
    put(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), numStartups: 3 }))
    await place.ralph(['uninstall', 'claude', '--yes'])
    expect(readFileSync(path, 'utf8')).toBe('{"numStartups":3}')
  })

  describe('in a TOML file that the user has changed since', () => {
    const BEFORE = 'model = "x"\n'
    const AFTER = '\n# mine\n[mcp_servers.mine]\ncommand = "y"\n'

    async function installed(change: (text: string) => string): Promise<{ place: Place; path: string }> {
      const place = makePlace({ git: false })
      const path = join(person(place), '.codex', 'config.toml')
      put(path, BEFORE)
      await place.ralph(['install', 'codex', '--mcp', '--yes'])
      put(path, change(readFileSync(path, 'utf8')))
      return { place, path }
    }

    test.each([
      ['a line is added to it', (text: string) => `${text}startup_timeout_sec = 20\n`],
      ['a table is added below it', (text: string) => `${text}[mcp_servers.ralph.tools]\nx = [\n  "[a]"\n]\n`],
      ['a line of it is missing', (text: string) => text.replace(/^env = .*\n/m, '')],
    ])('is removed as a whole, and only once: %s', async (_, change) => {
      const { place, path } = await installed((text) => change(text) + AFTER)
      expect(await place.ralph(['uninstall', 'codex', '--yes'])).toMatchObject({ code: 0, stderr: '' })
      expect(readFileSync(path, 'utf8')).toBe(BEFORE + AFTER)
    })

    test.each([[['--mcp']], [[]]])(
      'the trust that Codex recorded is removed with the hooks: install %j',
      async (flags) => {
        const place = makePlace({ git: false })
        const folder = join(person(place), '.codex')
        const path = join(folder, 'config.toml')
        const trusted = (group: number) =>
          `\n[hooks.state."${join(folder, 'hooks.json')}:stop:${group}:0"]\ntrusted_hash = "sha256:1"\n`
        const own = { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }] }
        put(path, BEFORE)
        put(join(folder, 'hooks.json'), JSON.stringify({ hooks: own }))
        await place.ralph(['install', 'codex', ...flags, '--yes'])
        put(path, readFileSync(path, 'utf8') + trusted(0) + trusted(1))
        expect(await place.ralph(['uninstall', 'codex', '--yes'])).toMatchObject({ code: 0, stderr: '' })
        expect(readFileSync(path, 'utf8').trim()).toBe((BEFORE + trusted(0)).trim())
        expect(JSON.parse(readFileSync(join(folder, 'hooks.json'), 'utf8'))).toEqual({ hooks: own })
      },
    )

    test('stays as it is while it has all that ralph needs, and is rewritten otherwise', async () => {
      const { place, path } = await installed((text) => `${text}startup_timeout_sec = 20\n${AFTER}`)
      const changed = readFileSync(path, 'utf8')
      expect((await place.ralph(['install', 'codex', '--yes'])).code).toBe(0)
      expect(readFileSync(path, 'utf8')).toBe(changed)
      put(path, changed.replace(/^args = .*\n/m, ''))
      expect((await place.ralph(['install', 'codex', '--yes'])).code).toBe(2)
      put(path, changed.replace(/^command = .*\n/m, ''))
      expect((await place.ralph(['install', 'codex', '--yes'])).code).toBe(0)
      const written = readFileSync(path, 'utf8')
      expect(written.match(/^\[mcp_servers\.ralph\]$/gm)).toHaveLength(1)
      expect(written.startsWith(BEFORE + AFTER)).toBe(true)
    })

    test('is written whole, although another table has the same lines', async () => {
      const { place, path } = await installed((text) => text.replace('mcp_servers.ralph', 'mcp_servers.other'))
      const other = readFileSync(path, 'utf8')
      expect((await place.ralph(['install', 'codex', '--yes'])).code).toBe(0)
      expect(readFileSync(path, 'utf8').match(/^command = /gm)).toHaveLength(2)
      await place.ralph(['uninstall', 'codex', '--yes'])
      expect(readFileSync(path, 'utf8')).toBe(other)
    })

    test('is left alone if it has become the user’s own', async () => {
      const { place, path } = await installed(() => '[mcp_servers.ralph]\ncommand = "mine"\n')
      expect((await place.ralph(['uninstall', 'codex', '--yes'])).code).toBe(0)
      expect(readFileSync(path, 'utf8')).toBe('[mcp_servers.ralph]\ncommand = "mine"\n')
    })
  })

  test('of the same name that belongs to someone else stays', async () => {
    const place = makePlace()
    const own = '{"mcpServers": {"ralph": {"command": "mine"}}}'
    put(join(person(place), '.claude.json'), own)
    const refused = await place.ralph(['install', 'claude', '--mcp', '--yes'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`"mcpServers.ralph" already exists`) })
    expect(readFileSync(join(person(place), '.claude.json'), 'utf8')).toBe(own)
    put(join(person(place), '.codex', 'config.toml'), '[mcp_servers.ralph]\ncommand = "mine"\n')
    const toml = await place.ralph(['install', 'codex', '--mcp', '--yes'])
    expect(toml).toMatchObject({ code: 2, stderr: expect.stringContaining('already has [mcp_servers.ralph]') })
  })

  test('is printed for users who write their settings themselves', async () => {
    const place = makePlace()
    const { stdout, stderr } = await place.ralph(['mcp', '--print-config', 'claude'])
    expect(JSON.parse(stdout)).toEqual({
      mcpServers: {
        ralph: { type: 'stdio', command: process.execPath, args: [LAUNCHER, 'mcp'], env: { RALPH_HOME: place.home } },
      },
    })
    expect(stderr).toBe(`For Claude Code, in ${join(person(place), '.claude.json')}:\n`)
    const unknown = await place.ralph(['mcp', '--print-config', 'pi'])
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/Cannot set up MCP for/) })
  })

  test.each([
    ['mcp --project', '--project needs --print-config AGENT.'],
    ['mcp --loop --print-config claude', 'Use either --print-config or --loop, not both.'],
  ])('ralph %s is refused', async (line, sentence) => {
    const { code, stderr } = await makePlace({ git: false }).ralph(line.split(' '))
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })
})

describe.concurrent('every agent', () => {
  test.each(CASES)('%s %s: what was there comes back byte for byte', async (agent, scope) => {
    const place = makePlace()
    const files =
      '.claude/settings.json .codex/hooks.json .gemini/settings.json .qwen/settings.json .factory/settings.json .cursor/hooks.json .pi/agent/settings.json'
    for (const file of files.split(' ')) put(join(person(place), file), OTHERS)
    for (const file of ['.claude/settings.local.json', '.gemini/settings.json', '.cursor/hooks.json'])
      put(join(place.dir, file), OTHERS)
    const before = snapshot(place)
    const first = await place.ralph(['install', agent, scope, '--yes'])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/ralph is installed for /)
    expect(first.stdout).toMatch(/Then type: [/$]ralph[:-]loop /)
    const after = snapshot(place)
    expect(after).not.toEqual(before)
    const again = await place.ralph(['install', agent, scope])
    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/^Nothing to do: /)
    expect(snapshot(place)).toEqual(after)
    const gone = await place.ralph(['uninstall', agent, scope, '--yes'])
    expect(gone).toMatchObject({ code: 0, stderr: '' })
    expect(gone.stdout).toContain('Removed ralph from ')
    expect(snapshot(place)).toEqual(before)
    expect(existsSync(place.home)).toBe(false)
    expect((await place.ralph(['uninstall', agent, scope])).stdout).toMatch(/^Nothing to do: /)
  })
})

describe.concurrent('confirmation', () => {
  test('without a terminal, it shows the diff, writes nothing, and requires --yes', async () => {
    const place = makePlace({ git: false })
    put(settingsOf(place), OTHERS)
    const before = snapshot(place)
    const ran = await place.ralph(['install', 'claude'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toMatch(/^ralph: Nothing was written: .*--yes/)
    expect(ran.stdout).toContain('~/.claude/settings.json\n@@ ')
    expect(ran.stdout).toMatch(/^\+.*ralph-home\/hook\.sh' stop"/m)
    expect(ran.stdout).toContain('~/.claude/commands/ralph/loop.md (new, ')
    expect(ran.stdout).not.toContain('\u001b')
    expect(snapshot(place)).toEqual(before)
    expect(existsSync(place.home)).toBe(false)
  })

  test.skipIf(!hasTmux)('on a terminal, only yes writes', async () => {
    const place = makePlace({ git: false })
    const before = snapshot(place)
    const argv = [process.execPath, LAUNCHER, 'install', 'claude']
    const no = openTerminal(argv, { dir: place.dir, env: place.env })
    await no.shows('Apply these changes? [y/N]')
    await no.enter('')
    expect(await no.ended()).toBe(1)
    expect(no.screen()).toContain('Nothing was written.')
    expect(snapshot(place)).toEqual(before)
    const yes = openTerminal(argv, { dir: place.dir, env: place.env })
    await yes.shows('Apply these changes? [y/N]')
    await yes.enter('y')
    expect(await yes.ended()).toBe(0)
    expect(existsSync(settingsOf(place))).toBe(true)
  })

  test.skipIf(!hasTmux)('Ctrl-C at the question writes nothing', async () => {
    const place = makePlace({ git: false })
    const terminal = openTerminal([process.execPath, LAUNCHER, 'install', 'claude'], { dir: place.dir, env: place.env })
    await terminal.shows('Apply these changes? [y/N]')
    terminal.press('C-c')
    expect(await terminal.ended()).not.toBe(0)
    expect(existsSync(settingsOf(place))).toBe(false)
  })

  const hasScript = spawnSync('script', ['--version']).status === 0
  test.skipIf(!hasScript).each([
    ['', true],
    ['1', false],
  ])('is colored on a terminal, but not with NO_COLOR=%j', (value, colored) => {
    const place = makePlace({ git: false })
    const line = `'${process.execPath}' '${LAUNCHER}' install claude --yes`
    const env = { ...place.env, TERM: 'xterm-256color', NO_COLOR: value }
    const shown = execFileSync('script', ['-qec', line, '/dev/null'], { cwd: place.dir, env, encoding: 'utf8' })
    expect(shown.includes('\u001b[32m+')).toBe(colored)
  })
})

describe.concurrent('wrong use', () => {
  test.each<[args: string[], sentence: string]>([
    [['install'], 'Missing agent: one of claude, codex,'],
    [['install', 'claud'], 'Did you mean claude?'],
    [['install', 'zzz'], 'Choose from claude, codex,'],
    [['uninstall', 'claude', '--user', '--project'], 'Use either --user or --project, not both'],
    [['install', 'claude', 'codex'], 'Unexpected argument: "codex"'],
    [['install', 'codex', '--vault', '.'], '--vault only works with claude'],
    [['install', 'claude', '--vault', '.', '--project'], '--vault cannot be combined with --user or --project'],
    [['install', 'claude', '--vault', 'nowhere'], 'No such folder: --vault nowhere'],
    [['install', 'claude', '--vault', '.', '--yes'], 'is not a vault: it contains none of Needs_Action, Done'],
  ])('%j', async (args, sentence) => {
    const ran = await makePlace({ git: false }).ralph(args)
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(sentence)
  })

  test('a home folder is not a project', async () => {
    const place = makePlace({ git: false })
    const ran = await place.ralph(['install', 'claude', '--project', '--yes'], { cwd: person(place) })
    expect(ran).toMatchObject({ code: 2 })
    expect(ran.stderr).toContain('--user')
  })

  test('hooks are not installed twice, for all folders and for one', async () => {
    const place = makePlace({ git: false })
    await place.ralph(['install', 'claude', '--yes'])
    const ran = await place.ralph(['install', 'claude', '--project', '--yes'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('run `ralph uninstall claude` first')
    const other = makePlace({ git: false })
    await other.ralph(['install', 'claude', '--project', '--yes'])
    expect((await other.ralph(['install', 'claude', '--yes'])).stdout).toContain('hooks may now run twice')
    expect((await other.ralph(['uninstall', 'claude', '--yes'])).code).toBe(0)
    expect((await other.ralph(['uninstall', 'claude'])).stdout).toContain('(run it there with --project)')
  })
})

describe.concurrent('files that cannot be changed', () => {
  test.each<[what: string, text: string, sentence: string]>([
    ['no JSON', '{"theme": ', 'it is not valid JSON'],
    ['a list', '[]', 'must contain a JSON object'],
    ['hooks of another shape', '{"hooks": "none"}', '"hooks" must be an object'],
  ])('%s: refused with a sentence, and left as it is', async (_, text, sentence) => {
    const place = makePlace({ git: false })
    put(settingsOf(place), text)
    const before = snapshot(place)
    const ran = await place.ralph(['install', 'claude', '--yes'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain(sentence)
    expect(snapshot(place)).toEqual(before)
  })

  test('a folder in place of the file', async () => {
    const place = makePlace({ git: false })
    mkdirSync(settingsOf(place), { recursive: true })
    const ran = await place.ralph(['install', 'claude', '--yes'])
    expect(ran).toMatchObject({ code: 1 })
    expect(ran.stderr).toContain('must be a file, but it is a folder')
  })

  test('a full disk', async ({ skip }) => {
    const place = makePlace({ git: false })
    const folder = join(place.root, 'small')
    mkdirSync(folder)
    const mount =
      'mount -t tmpfs -o size=16k none "$0" && cd "$0" && head -c 20000 /dev/zero > fill 2>/dev/null; exec "$@"'
    const argv = [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      mount,
      folder,
      process.execPath,
      LAUNCHER,
      'install',
      'claude',
      '--yes',
    ]
    skip(spawnSync('unshare', ['--map-root-user', '--mount', 'true']).status !== 0, 'namespaces are not available')
    const ran = spawnSync('unshare', argv, { env: { ...place.env, CLAUDE_CONFIG_DIR: folder }, encoding: 'utf8' })
    expect(ran.stderr).toContain('No space left to write')
    expect(ran.status).toBe(1)
  })
})

describe.concurrent('comments and trailing commas', () => {
  const COMMENTED = '{\n  // mine\n  "theme": "dark", // as at night\n}\n'

  test('stay, and come back byte for byte on uninstall', async () => {
    const place = makePlace({ git: false })
    put(settingsOf(place), COMMENTED)
    expect(await place.ralph(['install', 'claude', '--yes'])).toMatchObject({ code: 0 })
    const text = readFileSync(settingsOf(place), 'utf8')
    expect(text).toMatch(/^\{\n {2}\/\/ mine\n {2}"theme": "dark", \/\/ as at night\n {2}"hooks": \{\n/)
    expect(text).toContain(`sh '${place.home}/hook.sh' stop`)
    expect(existsSync(join(place.home, 'hook.sh'))).toBe(true)
    expect(await place.ralph(['uninstall', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(readFileSync(settingsOf(place), 'utf8')).toBe(COMMENTED)
  })

  test('that the user added later stay on uninstall', async () => {
    const place = makePlace({ git: false })
    await place.ralph(['install', 'claude', '--yes'])
    put(settingsOf(place), `// mine\n${readFileSync(settingsOf(place), 'utf8')}`)
    expect(await place.ralph(['uninstall', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(readFileSync(settingsOf(place), 'utf8')).toMatch(/^\/\/ mine\n\{\s*\}\n$/)
  })
})

describe.concurrent('links', () => {
  test('settings that a dotfile manager links to are written where they are', async () => {
    const place = makePlace({ git: false })
    const real = join(person(place), 'dotfiles', 'claude.json')
    put(real, OTHERS)
    mkdirSync(dirname(settingsOf(place)))
    symlinkSync('../dotfiles/claude.json', settingsOf(place))
    const before = snapshot(place)
    const ran = await place.ralph(['install', 'claude', '--yes'])
    expect(ran.stdout).toContain(`~/.claude/settings.json → ${real}`)
    expect(readlinkSync(settingsOf(place))).toBe('../dotfiles/claude.json')
    expect(readFileSync(real, 'utf8')).toContain('hook.sh')
    await place.ralph(['uninstall', 'claude', '--yes'])
    expect(snapshot(place)).toEqual(before)
  })

  test('a folder that is a link is shown with its target', async () => {
    const place = makePlace({ git: false })
    mkdirSync(join(place.root, 'elsewhere'))
    symlinkSync(join(place.root, 'elsewhere'), join(place.dir, '.claude'))
    const ran = await place.ralph(['install', 'claude', '--project'])
    expect(ran.stdout).toContain(`.claude/settings.local.json → ${place.root}/elsewhere/settings.local.json`)
  })

  test('ralph’s home has the gate, and links to this Node, the program and the package', async () => {
    const place = makePlace({ git: false })
    const root = resolve(dirname(LAUNCHER), '..')
    await place.ralph(['install', 'codex', '--yes'])
    expect(readFileSync(join(place.home, 'hook.sh'), 'utf8')).toBe(
      readFileSync(join(root, 'plugins/claude/hook.sh'), 'utf8'),
    )
    expect(statSync(join(place.home, 'hook.sh')).mode & 0o111).not.toBe(0)
    expect(readlinkSync(join(place.home, 'node'))).toBe(process.execPath)
    expect(readlinkSync(join(place.home, 'hook.cjs'))).toBe(join(root, 'dist', 'hook.cjs'))
    expect(readlinkSync(join(place.home, 'package'))).toBe(root)
    chmodSync(join(place.home, 'hook.sh'), 0o755)
    writeFileSync(join(place.home, 'hook.sh'), 'stale')
    expect((await place.ralph(['install', 'codex'])).stdout).toContain('were rebuilt')
    expect(readFileSync(join(place.home, 'hook.sh'), 'utf8')).not.toBe('stale')
  })

  test('they stay until the last agent is removed', async () => {
    const place = makePlace({ git: false })
    for (const agent of ['codex', 'pi']) await place.ralph(['install', agent, '--yes'])
    await place.ralph(['uninstall', 'codex', '--yes'])
    expect(existsSync(join(place.home, 'hook.sh'))).toBe(true)
    await place.ralph(['uninstall', 'pi', '--yes'])
    expect(existsSync(place.home)).toBe(false)
  })
})

describe.concurrent('a session that was open before', () => {
  test.each(['stop', 'prompt'])('is not blocked by the %s hook when ralph is missing', async (event) => {
    const place = makePlace({ git: false })
    await place.ralph(['install', 'claude', '--yes'])
    const { Stop, UserPromptSubmit } = JSON.parse(readFileSync(settingsOf(place), 'utf8')).hooks
    const [{ hooks }] = event === 'stop' ? Stop : UserPromptSubmit
    await place.ralph(['uninstall', 'claude', '--yes'])
    const ran = spawnSync('sh', ['-c', hooks[0].command], { input: '{}', encoding: 'utf8' })
    expect(ran).toMatchObject({ status: 0, stdout: '', stderr: '' })
  })

  test('an entry of an older ralph is replaced, and removed', async () => {
    const place = makePlace({ git: false })
    const older = { hooks: [{ type: 'command', command: `sh '${place.home}/hook.sh' stop`, timeout: 3_600 }] }
    put(settingsOf(place), JSON.stringify({ hooks: { Stop: [older] } }))
    await place.ralph(['install', 'claude', '--yes'])
    expect(JSON.parse(readFileSync(settingsOf(place), 'utf8')).hooks.Stop).toHaveLength(1)
    put(settingsOf(place), JSON.stringify({ hooks: { Stop: [older] } }))
    await place.ralph(['uninstall', 'claude', '--yes'])
    expect(readFileSync(settingsOf(place), 'utf8')).not.toContain('hook.sh')
  })
})

describe.concurrent('where agents look', () => {
  test.each<[agent: string, variable: string, file: string]>([
    ['claude', 'CLAUDE_CONFIG_DIR', 'settings.json'],
    ['codex', 'CODEX_HOME', 'hooks.json'],
    ['gemini', 'GEMINI_CLI_HOME', '.gemini/settings.json'],
    ['opencode', 'XDG_CONFIG_HOME', 'opencode/plugins/ralph.js'],
    ['opencode', 'OPENCODE_CONFIG_DIR', 'plugins/ralph.js'],
    ['copilot', 'COPILOT_HOME', 'hooks/ralph.json'],
    ['qwen', 'QWEN_HOME', 'settings.json'],
    ['droid', 'FACTORY_HOME_OVERRIDE', '.factory/settings.json'],
    ['pi', 'PI_CODING_AGENT_DIR', 'settings.json'],
  ])('%s follows %s', async (agent, variable, file) => {
    const place = makePlace({ git: false })
    const env = { [variable]: join(place.root, 'moved') }
    await place.ralph(['install', agent, '--yes'], { env })
    expect(existsSync(join(place.root, 'moved', file))).toBe(true)
    expect(readdirSync(person(place))).toEqual([])
    await place.ralph(['uninstall', agent, '--yes'], { env })
    expect(existsSync(join(place.root, 'moved'))).toBe(false)
  })

  test('an agent that is not installed is noted, and one that is installed is not', async () => {
    const place = makePlace({ git: false })
    const nowhere = { PATH: dirname(process.execPath) }
    expect((await place.ralph(['install', 'cursor', '--yes'], { env: nowhere })).stdout).toContain(
      'cursor-agent is not in your PATH',
    )
    put(join(place.root, 'bin', 'qwen'), '#!/bin/sh\n')
    chmodSync(join(place.root, 'bin', 'qwen'), 0o755)
    const here = { PATH: `${join(place.root, 'bin')}:${place.env.PATH}` }
    expect((await place.ralph(['install', 'qwen', '--yes'], { env: here })).stdout).not.toContain('PATH')
  })

  test("Copilot, which reads a folder's Claude Code settings, is noted in either order", async () => {
    const place = makePlace({ git: false })
    const say = 'Copilot runs those hooks too'
    expect((await place.ralph(['install', 'copilot', '--yes'])).stdout).not.toContain(say)
    expect((await place.ralph(['install', 'claude', '--project', '--yes'])).stdout).toContain(say)
    await place.ralph(['uninstall', 'copilot', '--yes'])
    expect((await place.ralph(['install', 'copilot', '--yes'])).stdout).toContain(say)
  })

  test('disabled hooks are noted', async () => {
    const place = makePlace({ git: false })
    put(settingsOf(place), '{"disableAllHooks": true}')
    expect((await place.ralph(['install', 'claude', '--yes'])).stdout).toContain('hooks are turned off')
  })
})

const status = ({ dir, env }: Place) =>
  execFileSync('git', ['status', '--short', '--untracked-files=all'], { cwd: dir, env, encoding: 'utf8' })

describe.concurrent('in a project', () => {
  test.each(AGENTS)('%s: nothing of it is committed', async (agent) => {
    const place = makePlace()
    await place.ralph(['install', agent, '--project', '--yes'])
    expect(status(place)).toBe('')
    await place.ralph(['uninstall', agent, '--project', '--yes'])
    expect(status(place)).toBe('')
  })

  test('committed settings are noted', async () => {
    const place = makePlace()
    put(join(place.dir, '.gemini/settings.json'), '{}\n')
    commitAll(place)
    const ran = await place.ralph(['install', 'gemini', '--project', '--yes'])
    expect(ran.stdout).toContain('Note: .gemini/settings.json is tracked by git')
    expect(status(place)).toBe(' M .gemini/settings.json\n')
  })

  test('two agents are installed and removed in any order', async () => {
    const place = makePlace()
    const before = snapshot(place)
    for (const agent of ['claude', 'codex', 'droid']) await place.ralph(['install', agent, '--project', '--yes'])
    for (const agent of ['codex', 'claude', 'droid']) await place.ralph(['uninstall', agent, '--project', '--yes'])
    expect(snapshot(place)).toEqual(before)
  })
})

describe.concurrent('in a vault', () => {
  /** The project of a place as a vault. */
  function vaultIn(place: Place, folder = 'Needs_Action'): string {
    mkdirSync(join(place.dir, folder))
    put(join(place.dir, folder, 'a.md'), 'Do it.\n')
    return place.dir
  }
  const settingsIn = ({ dir }: Place) => join(dir, '.claude', 'settings.local.json')

  test.each([{ others: OTHERS }, { others: undefined }])(
    'what was there comes back byte for byte: $others',
    async ({ others }) => {
      const place = makePlace()
      const vault = vaultIn(place)
      if (others) put(settingsIn(place), others)
      const before = snapshot(place)
      const first = await place.ralph(['install', 'claude', '--vault', vault, '--yes'], { cwd: place.root })
      expect(first).toMatchObject({ code: 0, stderr: '' })
      expect(first.stdout).toContain(`ralph is installed for Claude Code, for the tasks in ${vault}.`)
      expect(first.stdout).toContain(`ralph uninstall claude --vault '${vault}'`)
      expect(first.stdout).not.toContain('/ralph:loop')
      expect(readdirSync(join(vault, '.claude')).sort()).toEqual(['hooks', 'settings.local.json'])
      const { hooks } = JSON.parse(readFileSync(settingsIn(place), 'utf8'))
      expect(Object.keys(hooks)).toEqual(['Stop'])
      const after = snapshot(place)
      expect((await place.ralph(['install', 'claude', '--vault', '.'])).stdout).toMatch(/^Nothing to do: /)
      expect(snapshot(place)).toEqual(after)
      expect(status(place)).toBe('?? Needs_Action/a.md\n')
      const gone = await place.ralph(['uninstall', 'claude', '--vault', '.', '--yes'])
      expect(gone).toMatchObject({ code: 0, stderr: '' })
      expect(snapshot(place)).toEqual(before)
      expect(existsSync(place.home)).toBe(false)
      expect((await place.ralph(['uninstall', 'claude', '--vault', vault])).stdout).toMatch(/^Nothing to do: /)
    },
  )

  test('it asks first, and shows what it writes', async () => {
    const place = makePlace({ git: false })
    const before = snapshot(place)
    const ran = await place.ralph(['install', 'claude', '--vault', vaultIn(place, 'Done')])
    expect(ran.code).toBe(2)
    expect(ran.stdout).toMatch(/^\+.*CLAUDE_PROJECT_DIR/m)
    expect(ran.stdout).toContain('.claude/hooks/stop.sh (new, ')
    rmSync(join(place.dir, 'Done'), { recursive: true })
    expect(snapshot(place)).toEqual(before)
  })

  test.each([
    ['--user', ['--user', '--vault']],
    ['--user', ['--vault', '--user']],
    ['--project', ['--project', '--vault']],
    ['--project', ['--vault', '--project']],
  ])('it coexists with %s, whichever is removed first: %j', async (scope, order) => {
    const place = makePlace()
    const vault = vaultIn(place)
    put(settingsIn(place), OTHERS)
    put(settingsOf(place), OTHERS)
    const before = snapshot(place)
    const argsOf = (one: string) => (one === '--vault' ? [one, vault, '--yes'] : [one, '--yes'])
    for (const one of [scope, '--vault'])
      expect(await place.ralph(['install', 'claude', ...argsOf(one)])).toMatchObject({ code: 0, stderr: '' })
    const both = snapshot(place)
    for (const one of [scope, '--vault'])
      expect((await place.ralph(['install', 'claude', ...argsOf(one)])).stdout).toMatch(/^Nothing to do: /)
    expect(snapshot(place)).toEqual(both)
    const [first = '', last = ''] = order
    await place.ralph(['uninstall', 'claude', ...argsOf(first)])
    expect((await place.ralph(['install', 'claude', ...argsOf(last)])).stdout).toMatch(/^Nothing to do: /)
    if (last !== '--user') expect(status(place)).toBe('?? Needs_Action/a.md\n')
    await place.ralph(['uninstall', 'claude', ...argsOf(last)])
    expect(snapshot(place)).toEqual(before)
    expect(existsSync(place.home)).toBe(false)
  })

  test('a hook with that name that is not ralph’s is left alone', async () => {
    const place = makePlace({ git: false })
    const vault = vaultIn(place)
    put(join(vault, '.claude', 'hooks', 'stop.sh'), '#!/bin/bash\nexit 0\n')
    const before = snapshot(place)
    const ran = await place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('stop.sh already exists and was not written by ralph. Rename it')
    expect(snapshot(place)).toEqual(before)
  })

  test('a vault that no longer exists can be forgotten', async () => {
    const place = makePlace({ git: false })
    const vault = join(place.dir, 'vault')
    mkdirSync(join(vault, 'Done'), { recursive: true })
    await place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    rmSync(vault, { recursive: true })
    expect(await place.ralph(['uninstall', 'claude', '--vault', vault, '--yes'])).toMatchObject({ code: 0, stderr: '' })
    expect(existsSync(place.home)).toBe(false)
    expect((await place.ralph(['uninstall', 'claude', '--vault', vault])).stdout).toMatch(/^Nothing to do: /)
  })

  test('its script is executable, even one that an older ralph wrote or somebody changed', async () => {
    const place = makePlace({ git: false })
    const vault = vaultIn(place)
    const script = join(vault, '.claude', 'hooks', 'stop.sh')
    const install = () => place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    await install()
    expect(statSync(script).mode & 0o777).toBe(0o755)
    expect((await install()).stdout).toMatch(/^Nothing to do: /)
    chmodSync(script, 0o600)
    expect((await install()).stdout).toMatch(/stop\.sh is executable again\.\nNothing else to do: /)
    expect(statSync(script).mode & 0o777).toBe(0o700)
    writeFileSync(script, `${readFileSync(script, 'utf8')}# by an older ralph\n`)
    chmodSync(script, 0o644)
    await install()
    expect(statSync(script).mode & 0o777).toBe(0o755)
  })

  test('a stale script is replaced', async () => {
    const place = makePlace({ git: false })
    const vault = vaultIn(place)
    await place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    const script = join(vault, '.claude', 'hooks', 'stop.sh')
    const current = readFileSync(script, 'utf8')
    writeFileSync(join(vault, 'ralph.config.json'), '{"done_folder": "Fertig"}')
    const ran = await place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    expect(ran.stdout).toContain("+finished='Fertig'")
    expect(readFileSync(script, 'utf8')).toBe(current.replace("finished='Done'", "finished='Fertig'"))
  })

  test('invalid settings are refused before anything is written', async () => {
    const place = makePlace({ git: false })
    const vault = vaultIn(place)
    writeFileSync(join(vault, 'ralph.config.json'), '{"state_dir": "../elsewhere"}')
    const ran = await place.ralph(['install', 'claude', '--vault', vault, '--yes'])
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain('state_dir')
    expect(existsSync(join(vault, '.claude'))).toBe(false)
  })
})

test.concurrent('what the user changed since stays, and a note says so', async () => {
  const place = makePlace({ git: false })
  put(settingsOf(place), OTHERS)
  await place.ralph(['install', 'claude', '--yes'])
  const edited = readFileSync(settingsOf(place), 'utf8').replace('"dark"', '"light"')
  writeFileSync(settingsOf(place), edited)
  const ran = await place.ralph(['uninstall', 'claude', '--yes'])
  expect(ran.stdout).toContain(
    '~/.claude/settings.json has changed since it was installed: only the parts added by ralph were removed.',
  )
  expect(readFileSync(settingsOf(place), 'utf8')).toBe(OTHERS.replace('"dark"', '"light"'))
})

test.concurrent('killed at any moment, no file is seen half-written, and both commands work afterwards', async () => {
  const place = makePlace()
  put(settingsOf(place), OTHERS)
  const before = snapshot(place)
  await place.ralph(['install', 'claude', '--yes'])
  const after = readFileSync(settingsOf(place), 'utf8')
  await place.ralph(['uninstall', 'claude', '--yes'])
  // The delay is the point of this test: there is nothing to wait for, since any moment may be the one.
  for (let delay = 60; delay <= 240; delay += 15) {
    for (const command of ['install', 'uninstall']) {
      const running = place.start([command, 'claude', '--yes'])
      await sleep(delay)
      running.child.kill('SIGKILL')
      await running.ended
      expect([OTHERS, after]).toContain(readFileSync(settingsOf(place), 'utf8'))
    }
    if (delay % 2 === 0) expect(await place.ralph(['install', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(await place.ralph(['uninstall', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(snapshot(place)).toEqual(before)
  }
})

test.concurrent('two at once: one waits its turn or says so, and nothing is lost', async () => {
  const place = makePlace({ git: false })
  put(settingsOf(place), OTHERS)
  const before = snapshot(place)
  const ran = await Promise.all([1, 2, 3].map(() => place.ralph(['install', 'claude', '--yes'], { apart: true })))
  expect(ran.some(({ code }) => code === 0)).toBe(true)
  for (const { code, stderr } of ran) if (code !== 0) expect(stderr).toContain('is running')
  await place.ralph(['uninstall', 'claude', '--yes'])
  expect(snapshot(place)).toEqual(before)
})
