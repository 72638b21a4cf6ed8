/** Files that Python loads instead of its own modules, because it searches a project folder first. */
import type { Files } from './means.ts'
import { folderOf } from './means-paths.ts'

/** Every module of Python 3.10 to 3.14, and what pytest needs; then the internal ones, without their underscore. */
const MODULES: ReadonlySet<string> = new Set([
  ...`abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall
compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime
dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput
fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac
html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale
logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib
nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil
platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat
queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil
signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat
statistics string stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile
termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle
turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound
wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
attr attrs colorama exceptiongroup iniconfig packaging pluggy py pygments tomli typing_extensions`.split(/\s+/),
  ...`abc aix_support android_support apple_support ast asyncio bisect blake2 bootsubprocess bz2 codecs codecs_cn codecs_hk
codecs_iso2022 codecs_jp codecs_kr codecs_tw collections collections_abc colorize compat_pickle compression
contextvars crypt csv ctypes curses curses_panel datetime dbm decimal elementtree frozen_importlib
frozen_importlib_external functools gdbm hashlib heapq hmac imp interpchannels interpqueues interpreters io
ios_support json locale lsprof lzma markupbase md5 msi multibytecodec multiprocessing opcode operator osx_support
overlapped pickle posixshmem posixsubprocess py_abc pydatetime pydecimal pyio pylong pyrepl queue random
remote_debugging scproxy sha1 sha256 sha3 sha512 signal sitebuiltins socket sqlite3 sre ssl stat statistics string
strptime struct suggestions symtable sysconfig thread threading_local tkinter tokenize tracemalloc typing uuid
warnings weakref weakrefset winapi zoneinfo zstd`
    .split(/\s+/)
    .map((name) => `_${name}`),
])

/** `json.py`, `json/__init__.py`, and their compiled forms. */
const MODULE = /(?:^|\/)(\w+)(?:\/__init__)?\.(?:(py)|pyc|(?:[\w-]+\.)?(?:so|pyd))$/

/** `roots`: the folders that Python imports from. */
export function shadowsPython(path: string, roots: ReadonlySet<string>): boolean {
  const [, name = ''] = MODULE.exec(path) ?? []
  if (!MODULES.has(name)) return false
  const folder = folderOf(path)
  const home = /\/__init__\.[^/]+$/.test(path) ? folderOf(folder) : folder
  return roots.has(home)
}

/** A module of that name that existed at the start is part of the product; a new one shadows Python's own. */
export function isOrdinaryModule(path: string): boolean {
  const [, name = '', source] = MODULE.exec(path) ?? []
  return source !== undefined && MODULES.has(name) && !/^(unittest|doctest|iniconfig|pluggy)$/.test(name)
}

const PYTHON =
  /^(python[\d.]*|pypy[\d.]*|pytest|py\.test|unittest|doctest|nose2?|tox|nox|uvx?|poetry|pipenv|pdm|hatch|rye|poe|coverage|behave|mypy|pylint|flake8|pyright)$/
const OTHERS = /^(node|deno|bun|vitest|jest|mocha|ava|playwright|cypress|tsc|cargo|go|rspec|phpunit|gradle|mvn|dotnet)$/

/** If it is unknown what a check runs, it may be Python. */
function mayRunPython(tools: ReadonlySet<string>): boolean {
  const names = [...tools]
  return names.some((tool) => PYTHON.test(tool)) || !names.some((tool) => OTHERS.test(tool))
}

/** `started`: folders where the checks start Python. pytest adds those of its configuration and conftest.py. */
export function pythonRoots(
  { paths }: Files,
  { dir, tools, started }: { dir: string; tools: ReadonlySet<string>; started: ReadonlySet<string> },
): ReadonlySet<string> {
  if (!mayRunPython(tools)) return new Set()
  const roots = new Set(['', dir, ...started])
  for (const path of paths)
    if (ROOT.test(path) && !paths.has(`${folderOf(path)}/__init__.py`)) roots.add(folderOf(path))
  for (const root of [...roots]) roots.add(root === '' ? 'src' : `${root}/src`)
  return roots
}

const ROOT = /(^|\/)(conftest\.py|\.?pytest\.(ini|toml)|tox\.ini|setup\.(cfg|py)|pyproject\.toml)$/
