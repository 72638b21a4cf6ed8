/** What an agent may try to get out of the sandbox, as a table. Each trick is a few lines of sh that run inside. */
import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** The machine around a loop, as the tricks find it. */
export type Site = {
  /** The user's home folder, and a folder of theirs next to the worktree. */
  person: string
  outside: string
  work: string
  ralphHome: string
  /** Where ralph is installed. */
  ralph: string
  /** One of the user's processes. */
  sleeper: number
  /** Where the user's services listen. */
  sockets: Readonly<Record<Service, string>>
  /** The port of one of the user's servers. */
  port: number
}

export type Service = (typeof SERVICES)[number]
export const SERVICES = [
  'docker',
  'podman',
  'ssh-agent',
  'gpg-agent',
  'dbus',
  'x11',
  'wayland',
  'tmux',
  'postgres',
  'control',
  'elsewhere',
  'run',
  'work',
] as const

/**
 * `got`: whether it got out, by what is found outside afterwards. Absent: it prints GOT, or a service was reached.
 * `named`: the sentence of docs/sandbox.md that admits it.
 */
export type Trick = { name: string; tries(site: Site): string; got?(site: Site, said: string): boolean; named?: string }

const wrote = (path: (site: Site) => string) => (site: Site) =>
  lstatSync(path(site), { throwIfNoEntry: false }) !== undefined
const changed = (path: (site: Site) => string) => (site: Site) => readFileSync(path(site), 'utf8') !== MINE
/** The content of every file of the user. */
export const MINE = 'mine\n'

const mark = ({ outside }: Site) => `${outside}/got`

/** A file that does not exist outside, written by its path. */
const writes = (name: string, path: (site: Site) => string): Trick => ({
  name,
  tries: (site) => `mkdir -p "$(dirname '${path(site)}')"; echo got > '${path(site)}'`,
  got: wrote(path),
})

/** Something answers at the socket of a service. */
const reaches = (name: string, service: Service): Trick => ({
  name,
  tries: ({ sockets }) => `node "$TRICKS/reach.cjs" '${sockets[service]}'`,
})

const FILES: Trick[] = [
  writes('a file next to the worktree', ({ outside }) => `${outside}/new`),
  writes('~/.bashrc', ({ person }) => `${person}/.bashrc`),
  writes('~/.ssh/authorized_keys', ({ person }) => `${person}/.ssh/authorized_keys`),
  writes('~/.gitconfig', ({ person }) => `${person}/.gitconfig`),
  writes('~/.config/autostart', ({ person }) => `${person}/.config/autostart/got.desktop`),
  writes('~/.config/systemd/user', ({ person }) => `${person}/.config/systemd/user/got.service`),
  writes('~/.local/bin', ({ person }) => `${person}/.local/bin/git`),
  writes('/etc', () => '/etc/ralph-sandbox-got'),
  writes('/var/tmp', () => '/var/tmp/ralph-sandbox-got'),
  writes('/var/spool/cron', () => '/var/spool/cron/ralph-sandbox-got'),
  writes('/dev/shm', () => '/dev/shm/ralph-sandbox-got'),
  writes('/tmp outside', () => '/tmp/ralph-sandbox-got'),
  writes('/run', () => '/run/ralph-sandbox-got'),
  writes("ralph's own programs", ({ ralph }) => `${ralph}/dist/ralph-sandbox-got`),
  writes("node_modules/.bin of ralph's installation", ({ ralph }) => `${ralph}/node_modules/.bin/ralph-sandbox-got`),
  {
    name: 'folders of PATH',
    tries: () => 'IFS=:; for folder in $PATH; do touch "$folder/ralph-sandbox-got" && echo GOT; done',
  },
  {
    name: 'a symbolic link that leads out',
    tries: ({ outside }) => `ln -s '${outside}' way-out; echo got > way-out/got-by-link; rm way-out`,
    got: wrote(({ outside }) => `${outside}/got-by-link`),
  },
  {
    name: "a hard link to a user's file",
    tries: ({ outside }) => `ln '${outside}/mine.txt' hard; echo got >> hard; rm -f hard`,
    got: changed(({ outside }) => `${outside}/mine.txt`),
  },
  {
    name: "deleting a user's file",
    tries: ({ outside }) => `rm -f '${outside}/kept.txt'; mv '${outside}/kept.txt' moved`,
    got: ({ outside }) => !existsSync(`${outside}/kept.txt`),
  },
  {
    name: 'chmod and chown',
    tries: ({ outside }) => `chmod 4777 '${outside}/mode.txt'; chown 12345 '${outside}/mode.txt'`,
    got: ({ outside }) => (lstatSync(`${outside}/mode.txt`).mode & 0o7777) !== 0o644,
  },
  {
    name: '/proc/1/root and /proc/self/root',
    tries: ({ outside }) => `for id in 1 self; do echo got > "/proc/$id/root${outside}/got-by-root"; done`,
    got: wrote(({ outside }) => `${outside}/got-by-root`),
  },
  {
    name: 'the working folders of other processes',
    tries: ({ sleeper }) => `for cwd in /proc/[0-9]*/cwd /proc/${sleeper}/cwd; do echo got > "$cwd/got-by-cwd"; done`,
    got: wrote(({ outside }) => `${outside}/got-by-cwd`),
  },
  {
    name: 'open files that were inherited',
    tries: () =>
      'for fd in /proc/self/fd/*; do case "$(readlink "$fd")" in pipe:*|/dev/null|*.out|/proc/*|"") ;; *) echo "GOT $(readlink "$fd")";; esac; done',
  },
]

const KEY = `($type, $name, $value) = ("user", "ralph-sandbox-${process.pid}", "v");`
const addKey = `${KEY} syscall(248, $type, $name, $value, 1, -4)`
const findKey = `${KEY} print "GOT" if syscall(249, $type, $name, 0, -4) > 0`

const MACHINE: Trick[] = [
  {
    name: 'mounting the machine writable again',
    tries: (site) =>
      `mount -o remount,bind,rw /; mount -o remount,bind,rw '${site.outside}'; touch '${mark(site)}-mount'`,
    got: wrote((site) => `${mark(site)}-mount`),
  },
  {
    name: 'its own namespace, and mounting there',
    tries: (site) =>
      `unshare --user --map-root-user --mount sh -c "mount -o remount,bind,rw /; mount -o remount,bind,rw '${site.outside}'; umount -l /tmp; touch '${mark(site)}-unshare'"`,
    got: wrote((site) => `${mark(site)}-unshare`),
  },
  {
    name: 'bubblewrap inside, with everything writable',
    tries: (site) => `bwrap --dev-bind / / touch '${mark(site)}-bwrap'`,
    got: wrote((site) => `${mark(site)}-bwrap`),
  },
  {
    name: 'the namespaces of other processes',
    tries: (site) =>
      `for id in 1 ${site.sleeper}; do nsenter --target $id --mount --pid touch '${mark(site)}-nsenter'; done`,
    got: wrote((site) => `${mark(site)}-nsenter`),
  },
  {
    name: 'chroot',
    tries: (site) => `chroot /proc/1/root touch '${mark(site)}-chroot'`,
    got: wrote((site) => `${mark(site)}-chroot`),
  },
  { name: 'making a disk device', tries: () => 'mknod disk b 8 0 && echo GOT; rm -f disk' },
  {
    name: 'disks and memory in /dev',
    tries: () =>
      'for node in /dev/* /dev/*/*; do [ -b "$node" ] && echo GOT; done; [ -e /dev/mem ] && echo GOT; [ -e /dev/kmsg ] && echo GOT; true',
  },
  {
    name: "killing a user's process",
    tries: ({ sleeper }) => `kill -9 ${sleeper}`,
    got: ({ sleeper }) => !existsSync(`/proc/${sleeper}/cwd`),
  },
  { name: 'killing ralph itself', tries: () => `kill -9 ${process.pid} && echo GOT` },
  {
    name: "a debugger on a user's process",
    tries: ({ sleeper }) =>
      `cat /proc/${sleeper}/maps && echo GOT; strace -p ${sleeper} 2>&1 | grep attached && echo GOT`,
  },
  {
    name: 'the environment of processes outside',
    tries: () => 'grep -lsa RALPH_TEST_OF_THE_PARENT /proc/[0-9]*/environ && echo GOT',
  },
  { name: 'setuid programs', tries: () => 'grep -q "NoNewPrivs:.1" /proc/self/status || echo GOT' },
  { name: 'capabilities of root', tries: () => 'grep -Eq "^CapEff:.0+$" /proc/self/status || echo GOT' },
  {
    name: 'settings of the kernel',
    tries: () =>
      'for file in kernel/core_pattern kernel/hostname vm/drop_caches; do cat "/proc/sys/$file" > kept 2>/dev/null || echo 1 > kept; cat kept > "/proc/sys/$file" && echo GOT; done; echo h > /proc/sysrq-trigger && echo GOT; rm -f kept',
  },
  {
    name: '/sys',
    tries: () =>
      'for file in /sys/fs/cgroup/cgroup.procs /sys/kernel/mm/ksm/run /sys/power/state; do [ -e "$file" ] && echo 0 2>/dev/null >> "$file" && echo GOT; done; mkdir /sys/fs/cgroup/ralph-sandbox-got && echo GOT',
  },
  {
    name: 'shared memory of System V',
    tries: () => 'readlink /proc/self/ns/ipc',
    got: (_, said) => said.trim() === readlinkSync('/proc/self/ns/ipc'),
  },
  {
    name: "the kernel's keys",
    tries: () => (process.arch === 'x64' ? `perl -e '${addKey}'` : 'true'),
    got: () => process.arch === 'x64' && spawnSync('perl', ['-e', findKey], { encoding: 'utf8' }).stdout === 'GOT',
  },
  { name: 'the clock', tries: () => 'date -s "$(date)" && echo GOT' },
  {
    name: "keystrokes for the user's terminal",
    tries: () =>
      '(exec 3<> /dev/tty) && echo GOT; [ -c /dev/console ] && echo GOT; ls /dev/pts | grep "^[0-9]" && echo GOT',
  },
  {
    name: 'a process that outlives the turn',
    tries: () => 'setsid env -i sleep 987653 & (setsid nohup sleep 987653 >/dev/null 2>&1 &) ; true',
    got: () => readdirSync('/proc').some((id) => /^\d+$/.test(id) && commandLine(id) === 'sleep 987653'),
  },
  { name: 'crontab', tries: () => 'echo "* * * * * true" | crontab - && echo GOT' },
  { name: 'at', tries: () => 'echo true | at now + 1 minute && echo GOT' },
  { name: "the user's systemd", tries: () => 'systemd-run --user true && echo GOT' },
]

const RALPH: Trick[] = [
  {
    name: "ralph's database",
    tries: ({ ralphHome }) =>
      `echo got >> '${ralphHome}/ralph.db'; cat '${ralphHome}/ralph.db' | grep -a SQLite && echo GOT`,
  },
  {
    name: "ralph's locks and transcripts",
    tries: ({ ralphHome }) =>
      `rm -rf '${ralphHome}/locks' '${ralphHome}/transcripts'; touch '${ralphHome}/got'; ls '${ralphHome}/locks' && echo GOT`,
    got: ({ ralphHome }, said) => said.includes('GOT') || existsSync(`${ralphHome}/got`),
  },
  {
    name: "the token of ralph's server",
    tries: ({ ralphHome }) => `cat '${ralphHome}/server.json' '${ralphHome}/server-token' && echo GOT`,
    got: (_, said) => said.includes('GOT') || said.includes('ralph_'),
  },
  {
    name: 'the worktrees of other loops',
    tries: ({ ralphHome }) => `ls '${ralphHome}/worktrees' && echo GOT`,
  },
]

const SOCKETS: Trick[] = [
  reaches('the Docker socket', 'docker'),
  reaches('the Podman socket', 'podman'),
  reaches('ssh-agent', 'ssh-agent'),
  reaches('gpg-agent', 'gpg-agent'),
  reaches('the session D-Bus', 'dbus'),
  reaches('X11', 'x11'),
  reaches('Wayland', 'wayland'),
  reaches("the user's tmux", 'tmux'),
  reaches('Postgres', 'postgres'),
  reaches('a shared SSH connection', 'control'),
  reaches('a socket in an unknown folder', 'elsewhere'),
  reaches('a socket below /run', 'run'),
  {
    name: 'variables that point to services',
    tries: () =>
      'env | grep -E "^(SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS|DISPLAY|WAYLAND_DISPLAY|DOCKER_HOST|XAUTHORITY|GPG_AGENT_INFO|TMUX|XDG_RUNTIME_DIR|SOME_EDITOR)=" && echo GOT',
  },
  {
    name: 'the key to the display',
    tries: ({ person }) => `grep cookie '${person}/.Xauthority' && echo GOT`,
  },
]

const GIT: Trick[] = [
  {
    name: 'a git hook',
    tries: (site) =>
      `printf '#!/bin/sh\\ntouch ${mark(site)}-hook\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
    got: ({ work }) => existsSync(join(work, '.git/hooks/pre-commit')),
  },
  {
    name: 'the git configuration',
    tries: (site) =>
      `git config core.fsmonitor "touch '${mark(site)}-fsmonitor'"; git config core.hooksPath '${site.work}'; printf '[core]\\n\\tfsmonitor = x\\n' >> .git/config`,
    got: ({ work }) => /fsmonitor|hooksPath/.test(readFileSync(join(work, '.git/config'), 'utf8')),
  },
]

const NAMED: Trick[] = [
  {
    name: 'reading what the user can read',
    tries: ({ outside }) => `grep mine '${outside}/mine.txt' && echo GOT`,
    named: 'The agent can read every file that you can read, including keys and passwords.',
  },
  {
    name: 'the network',
    tries: ({ port }) => `node "$TRICKS/reach.cjs" ${port}`,
    named:
      'An agent needs to reach its model, so it can also send out what it reads, and reach servers on this machine.',
  },
  {
    name: 'an abstract socket',
    tries: () => `node "$TRICKS/reach.cjs" "$(printf 'abstract:ralph-sandbox-${process.pid}')"`,
    named: '**Abstract sockets** have no path that ralph could hide: they belong to the network, which is open.',
  },
  {
    name: 'a socket in the worktree',
    tries: ({ sockets }) => `node "$TRICKS/reach.cjs" '${sockets.work}'`,
    named: "One inside the worktree or the agent's own settings can be reached.",
  },
]

export const TRICKS: readonly Trick[] = [...FILES, ...MACHINE, ...RALPH, ...SOCKETS, ...GIT, ...NAMED]

function commandLine(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return '' // it has ended
  }
}
