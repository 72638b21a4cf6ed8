/** Which files decide the outcome of a check, judged by name alone. */
import type { Means, Part, Role } from './means.ts'
import { TEST_LIBRARIES } from './means-helpers.ts'

/** `tools` are the programs that the checks run: linter and compiler configuration counts only if that tool runs. */
export function meansByName(path: string, tools: ReadonlySet<string>): Means | undefined {
  if (/(^|\/)node_modules\//.test(path)) return byPackage(path, tools)
  const name = path.slice(path.lastIndexOf('/') + 1)
  const part = PARTS.find(([pattern]) => pattern.test(name))?.[1]
  if (part) return { role: 'config', part: part(tools) }
  const role = ROLES.find(([, pattern]) => pattern.test(path))?.[0]
  if (role) return { role, part: 'whole' }
  const isRule = RULES.some(([users, pattern]) => users.some((tool) => tools.has(tool)) && pattern.test(name))
  if (isRule) return { role: 'config', part: 'whole' }
  if (name === 'config.yaml') return { role: 'config', part: { kind: 'ralph' } } // the rest belongs to other programs
  return path.endsWith('.rs') ? { role: 'test', part: { kind: 'rust' } } : undefined
}

/** Committed dependencies: the one that a check runs is its runner. */
function byPackage(path: string, tools: ReadonlySet<string>): Means | undefined {
  const [, named = ''] = /(?:^|\/)node_modules\/(?:\.bin\/)?((?:@[^/]+\/)?[^/]+)/.exec(path) ?? []
  return tools.has(named) || TEST_LIBRARIES.includes(named) ? { role: 'shadow', part: 'whole' } : undefined
}

const CODE = '(?:[cm]?[jt]sx?|py|rb|java|kts?|cs|fs|php|swift|exs?|go|rs|scala|groovy|lua|dart|clj[cs]?|cpp|cc|cr|sh)'

/** First match wins. */
const ROLES: readonly (readonly [Role, RegExp])[] = [
  [
    'snapshot',
    /(^|\/)__(snapshots|image_snapshots|screenshots)__\/|\.(snap|ambr|approved\.\w+|golden|expected|(golden|expected)\.\w+)$/,
  ],
  ['snapshot', /(^|\/)(goldens?|expected)(\/|([_-][\w-]+)?\.(txt|json|out|ya?ml|xml|html|csv|md|svg)$)/],
  ['ci', /(^|\/)\.(github\/(workflows|actions)|circleci|buildkite|woodpecker|forgejo\/workflows|gitea\/workflows)\//],
  [
    'ci',
    /(^|\/)(\.gitlab-ci(\.[^/]*)?\.ya?ml|\.travis\.yml|\.drone\.yml|azure-pipelines(\.[^/]*)?\.yml|bitbucket-pipelines\.yml|appveyor\.yml|Jenkinsfile|\.ci\/.*)$/,
  ],
  [
    'shadow',
    /(^|\/)(_?pytest|unittest2?|nose2?|sitecustomize|usercustomize|xdist|pytest_[a-z]+|pluggy|iniconfig)(\.(pyi?|pyc|([\w-]+\.)?(so|pyd))$|\/[^/]*\.(pyc?|so|pyd)$)|\.pth$|(^|\/)(vitest|jest|mocha|ava|jasmine|tap)\.[cm]?[jt]s$/,
  ],
  [
    'setup',
    /(^|\/)(setup-?tests?|(vitest|jest|mocha|jasmine|playwright|cypress|karma|tests?|global)[._-]?(global[._-]?)?(setup|teardown|helpers?|utils?|support|env(ironment)?)(-?after-?env)?|(spec|rails|test)_helper)\.[\w.]+$/i,
  ],
  ['setup', /(^|\/)(conftest\.py|tests?\/__init__\.py|__mocks__\/.*)$/],
  [
    'config',
    /(^|\/)(ralph\.config\.json|\.npmrc|\.yarnrc(\.yml)?|\.pnpmfile\.c?js|\.yarn\/(releases|plugins)\/.*|bunfig\.toml|\.env\.test)$/,
  ],
  [
    'config',
    /(^|\/)(vitest|vite|jest|mocha|ava|playwright|cypress|karma|wdio|nightwatch|wallaby|jasmine|web-test-runner|c8|nyc|codecept|cucumber|stryker)[\w.-]*\.(conf|config|workspace)\.([cm]?[jt]s|json)$/,
  ],
  [
    'config',
    /(^|\/)(vitest\.(workspace|projects)\.\w+|\.mocharc(\.\w+)?|cypress\.json|jasmine\.json|\.taprc|\.(nyc|c8)rc(\.\w+)?|nyc\.config\.\w+|\.?codecov\.ya?ml|\.coveragerc|\.?pytest\.(ini|toml)|tox\.(ini|toml)|noxfile\.py|setup\.cfg|\.rspec|\.proverc|\.busted|testem\.\w+|(nose2|unittest)\.cfg|behave\.ini|rust-toolchain(\.toml)?|gradle\/wrapper\/.*|phpunit\.xml(\.dist)?|\.testcaferc\.\w+|\.config\/nextest\.toml|\.cargo\/config(\.toml)?|\.simplecov|dart_test\.yaml|\.runsettings|testng\.xml|junit-platform\.properties|\.mvn\/[\w.-]+)$/,
  ],
  [
    'test',
    /(^|\/)(tests?|__tests__|__fixtures__|(tests?[-_]?)?fixtures|tests?[-_](utils?|helpers?|support|data)|e2e|cypress|testdata|(unit|integration|functional|acceptance|e2e)[-_]?tests?)\//i,
  ],
  ['test', new RegExp(`(^|/)specs?/(.*/)?[^/]+\\.${CODE}$`, 'i')],
  [
    'test',
    /(^|\/)[^/]*[._-](tests?|specs?|cy|e2e)\.([cm]?[jt]sx?|vue|svelte|dart|lua|py|rb|exs?|go|php|cc|cpp|cxx|c|clj[cs]?|jl|ml|zig|cr|sh|rs|erl)$/,
  ],
  ['test', /(^|\/)(test|tests|test-[^/]*)\.([cm]?[jt]sx?|py|rs|rb|sh)$/],
  ['test', /(^|\/)test_[^/]*\.(py|rb|c|cc|cpp|lua|jl|sh|php)$/],
  [
    'test',
    /[A-Za-z0-9_](Tests?|TestCase|Specs?|(?<=[a-z0-9])IT|ITCase)\.(java|kts?|groovy|scala|cs|fs|vb|php|swift|mm?|hs|dart)$/,
  ],
  ['test', /(^|\/)Test[A-Z]\w*\.(java|kts?|groovy|scala|cs|php)$/],
  ['test', /\.(bats|feature|t)$/],
]

/** Part of these files is work: dependencies, versions, metadata. */
const PARTS: readonly (readonly [RegExp, (tools: ReadonlySet<string>) => Exclude<Part, 'whole'>])[] = [
  [/^package\.json$/, (tools) => ({ kind: 'json', keys: runnerKeys(tools).map((key) => [key]) })],
  [/^pyproject\.toml$/, (tools) => ({ kind: 'toml', tables: pyprojectTables(tools) })],
  [/^Cargo\.toml$/, (tools) => ({ kind: 'toml', tables: [...CARGO, ...(tools.has('clippy') ? ['lints'] : [])] })],
  [
    /^(pom\.xml|build\.gradle(\.kts)?|CMakeLists\.txt|meson\.build|build\.sbt|BUILD(\.bazel)?|mix\.exs|[^/]+\.[cf]sproj|Directory\.Build\.\w+)$/,
    () => ({ kind: 'lines' }),
  ],
]

function runnerKeys(tools: ReadonlySet<string>): string[] {
  const linters = [
    ['eslint', 'eslintConfig'],
    ['eslint', 'eslintIgnore'],
    ['prettier', 'prettier'],
    ['stylelint', 'stylelint'],
    ['xo', 'xo'],
    ['standard', 'standard'],
    ['wireit', 'wireit'],
    ['knip', 'knip'],
  ] as const
  return [
    ...['jest', 'vitest', 'mocha', 'ava', 'c8', 'nyc', 'tap', 'jasmine'],
    ...linters.flatMap(([tool, key]) => (tools.has(tool) ? [key] : [])),
  ]
}

function pyprojectTables(tools: ReadonlySet<string>): string[] {
  const used = ['ruff', 'mypy', 'black', 'isort', 'pyright', 'pylint', 'flake8', 'pyrefly', 'ty', 'bandit', 'hatch']
  const tasks = [
    ['poe', 'tool.poe'],
    ['pdm', 'tool.pdm.scripts'],
    ['task', 'tool.taskipy'],
    ['basedpyright', 'tool.basedpyright'],
  ] as const
  return [
    ...['tool.pytest', 'tool.coverage', 'tool.tox', 'tool.nox'],
    ...used.flatMap((tool) => (tools.has(tool) ? [`tool.${tool}`] : [])),
    ...tasks.flatMap(([tool, table]) => (tools.has(tool) ? [table] : [])),
  ]
}

const CARGO = [
  'test',
  'profile.test',
  'package.autotests',
  'lib.test',
  'lib.doctest',
  'lib.harness',
  'bin.test',
  'bin.harness',
]

/** Configuration that only matters to the tools in front of it. */
const RULES: readonly (readonly [users: readonly string[], name: RegExp])[] = [
  [
    ['tsc', 'vue-tsc', 'tsgo', 'ts-node', 'tsx', 'tsd', 'svelte-check', 'jest', 'mocha', 'bun'],
    /^tsconfig[\w.-]*\.json$/,
  ],
  [['jest', 'ava', 'mocha', 'babel', 'babel-node'], /^(babel\.config\.\w+|\.babelrc(\.\w+)?|\.swcrc)$/],
  [['docker', 'docker-compose', 'podman'], /^((docker-)?compose[\w.-]*\.ya?ml|Dockerfile[\w.-]*)$/],
  [['eslint'], /^(eslint\.config\.\w+|\.eslintrc(\.\w+)?|\.eslintignore)$/],
  [['biome'], /^\.?biome\.jsonc?$/],
  [['prettier'], /^(\.prettierrc(\.\w+)?|prettier\.config\.\w+|\.prettierignore)$/],
  [['oxlint'], /^\.?oxlintrc\.json$/],
  [['stylelint'], /^(\.stylelintrc(\.\w+)?|stylelint\.config\.\w+|\.stylelintignore)$/],
  [['knip'], /^\.?knip\.(jsonc?|[jt]s)$/],
  [['markdownlint', 'markdownlint-cli2'], /^\.markdownlint.*$/],
  [['ruff'], /^\.?ruff\.toml$/],
  [['flake8'], /^\.flake8$/],
  [['mypy'], /^\.?mypy\.ini$/],
  [['pyright', 'basedpyright'], /^pyrightconfig\.json$/],
  [['pylint'], /^\.?pylintrc(\.toml)?$/],
  [['pre-commit'], /^\.pre-commit-config\.yaml$/],
  [['clippy'], /^\.?clippy\.toml$/],
  [['fmt', 'rustfmt'], /^\.?rustfmt\.toml$/],
  [['golangci-lint'], /^\.golangci\.\w+$/],
  [['rubocop'], /^\.rubocop(_todo)?\.yml$/],
  [['phpstan'], /^phpstan\.(neon|dist\.neon|neon\.dist)$/],
  [['psalm'], /^psalm\.xml(\.dist)?$/],
  [['swiftlint'], /^\.swiftlint\.yml$/],
  [['shellcheck'], /^\.shellcheckrc$/],
  [['yamllint'], /^\.yamllint(\.ya?ml)?$/],
  [['turbo'], /^turbo\.json$/],
  [['nx'], /^(nx|project)\.json$/],
  [['rake'], /^(Rakefile|rakefile|Rakefile\.rb)$/],
  [['just'], /^\.?justfile$/i],
  [['task', 'go-task'], /^Taskfile(\.dist)?\.ya?ml$/i],
  [['deno'], /^deno\.jsonc?$/],
  [['composer'], /^composer\.json$/],
  [['pnpm', 'pnpx'], /^pnpm-workspace\.yaml$/],
  [['dotenv', 'dotenvx', 'bun', 'direnv'], /^\.env(rc|\..*)?$/],
  [['mise', 'rtx'], /^\.?mise(\..*)?\.toml$/],
]

/** Tools whose configuration is a means of proof, to look for in scripts. */
export const TOOLS: readonly string[] = [...new Set(RULES.flatMap(([users]) => users))].filter(
  (tool) =>
    !/^(fmt|tsx|bun|pnpm|pnpx|dotenv|mise|rtx|direnv|task|just|nx|jest|ava|mocha|docker|docker-compose|podman|deno)$/.test(
      tool,
    ),
)
