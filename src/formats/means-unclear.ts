/** The safety net: files passed to programs that ralph does not understand. */
import { isGlob, pathMatcher } from './glob.ts'
import type { Following, Where } from './means-follow.ts'
import { folderOf, join } from './means-paths.ts'
import { isProduct } from './means-role.ts'

/** `files`: run, but perhaps the work; the others are paths passed to an unknown program, literal or as patterns. */
export type Unclear = { files: Set<string>; named: Set<string>; patterns: Map<string, (path: string) => boolean> }

export function noteUnclear(following: Following, args: readonly string[], { cwd, captured }: Where): void {
  if (captured) return
  const { named, patterns } = following.unclear
  for (const word of args.flatMap((arg) => arg.split(/[=:,]/))) {
    if (named.size + patterns.size > MOST) following.isCut = true
    if (!/\w/.test(word) || named.size + patterns.size > MOST) continue
    const path = join(cwd, word.replace(/\$(\{[^}]*\}|\(\)|\w+)/g, '*'))
    if (path === undefined || /^[*/]*$/.test(path)) continue
    if (!isGlob(path)) named.add(path)
    else if (!path.startsWith('*') && !patterns.has(path)) patterns.set(path, pathMatcher(path))
  }
}

const MOST = 20_000

/** `mayRun`: by its text or its mode. */
export function isUnclear({ files, named, patterns }: Unclear, path: string, mayRun: boolean): boolean {
  if (files.has(path)) return true
  if (isProduct(path) || !(mayRun || RUNS.test(path))) return false
  if (named.has(path)) return true
  for (const matches of patterns.values()) if (matches(path)) return true
  // In a folder, only what can be nothing but a program.
  if (!mayRun && /\.(?!sh$)\w+$/.test(path)) return false
  for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder)) if (named.has(folder)) return true
  return false
}

const RUNS = /\.((ba|z|k)?sh|[cm]?[jt]s|py|rb|pl|php|lua|awk|tcl|exs|mk)$|(^|\/)[^/.]+$/

/** Whether all that a program does with files is to read, move or translate them. */
export function onlyLooks(name: string): boolean {
  return LOOKS.has(name)
}

/** It matches nothing, so it need not be asked about every file of a list. */
export function leavesFiles(name: string): boolean {
  return LOOKS.has(name) && !/^(diff|cmp|find)$/.test(name)
}

const LOOKS: ReadonlySet<string> = new Set(
  [
    ': [ [[ alias basename break cat cd chmod chown cksum clear cmp column comm continue cp cut date df diff dirname du echo egrep exit export expr false',
    'fgrep file find fold getopts git grep head hash hexdump id install jobs jq kill less let ln local ls mapfile md5sum mkdir mktemp more mv nl od paste popd',
    'printf pushd pwd read readlink readonly realpath return rg rm rmdir sed seq set sha1sum sha256sum sha512sum shift shopt shuf sleep sort split stat strings',
    'sync tac tail tar tee test touch tr trap true type typeset ulimit umask uname uniq unset unzip wait wc which whoami xmllint xxd yes yq zip gzip gunzip bzip2 xz',
    'declare ag ack fd tree bc dc m4 envsubst openssl curl wget ping nc ssh scp rsync apt apt-get brew pip pip3 gem apk dnf yum systemctl ps pgrep pkill lsof',
    'cc c++ gcc g++ clang clang++ ld ar as nm objdump ranlib rustc javac kotlinc scalac ghc ocamlc ocamlopt gfortran zig nim crystal dmd valac protoc cmake ninja meson',
    'esbuild rollup webpack vite parcel swc babel terser uglifyjs sass lessc postcss tailwindcss browserify ncc tsup unbuild pkg',
    'black isort autopep8 yapf pyflakes pycodestyle pydocstyle bandit vulture radon autoflake pyupgrade shfmt shellcheck hadolint jshint jscs standard xo dprint',
    'cspell codespell vale markdown-link-check lychee alex textlint htmlhint tidy vnu ajv spectral actionlint gitleaks semgrep sloc cloc tokei jscpd size-limit',
    'gofmt goimports golint staticcheck govulncheck clang-format clang-tidy cppcheck cpplint ktlint checkstyle pmd scalafmt php-cs-fixer phpcs rubocop standardrb erb',
    'perltidy perlcritic luacheck stylua mix-format swiftformat dartfmt typos taplo prettierd eslint_d depcheck madge publint attw api-extractor typedoc jsdoc sphinx-build mkdocs pandoc',
  ]
    .join(' ')
    .split(' '),
)
