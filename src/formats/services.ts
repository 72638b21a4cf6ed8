/** Local services that a sandbox hides, by name: where they listen, and which variables point there. */
import { nearest } from './nearest.ts'

/** `paths`: sockets, their folders, and their keys; may start with `~` or a variable. */
export type Service = { paths: readonly string[]; variables: readonly string[] }

export const SERVICES: Readonly<Record<string, Service>> = {
  containerd: { paths: ['/run/containerd', '/run/k3s/containerd'], variables: ['CONTAINERD_ADDRESS'] },
  dbus: {
    paths: ['/run/dbus', '$XDG_RUNTIME_DIR/bus'],
    variables: ['DBUS_SESSION_BUS_ADDRESS', 'DBUS_SYSTEM_BUS_ADDRESS'],
  },
  docker: {
    paths: [
      '/run/docker.sock',
      '$XDG_RUNTIME_DIR/docker.sock',
      '~/.docker/run',
      '~/.docker/desktop',
      '~/.colima/default/docker.sock',
      '~/.rd/docker.sock',
    ],
    variables: ['DOCKER_HOST', 'DOCKER_CONTEXT'],
  },
  'gpg-agent': {
    paths: [
      '$XDG_RUNTIME_DIR/gnupg',
      '$GNUPGHOME/S.gpg-agent',
      '~/.gnupg/S.gpg-agent',
      '~/.gnupg/S.gpg-agent.ssh',
      '~/.gnupg/S.gpg-agent.extra',
    ],
    variables: ['GPG_AGENT_INFO'],
  },
  mysql: { paths: ['/run/mysqld', '/var/lib/mysql/mysql.sock', '/tmp/mysql.sock'], variables: ['MYSQL_UNIX_PORT'] },
  podman: { paths: ['/run/podman', '$XDG_RUNTIME_DIR/podman'], variables: ['CONTAINER_HOST'] },
  postgres: {
    paths: ['/run/postgresql', '/tmp/.s.PGSQL.5432', '/tmp/.s.PGSQL.5433'],
    variables: [],
  },
  redis: { paths: ['/run/redis', '/run/valkey'], variables: [] },
  'ssh-agent': { paths: ['~/.ssh/agent', '~/.1password/agent.sock'], variables: ['SSH_AUTH_SOCK', 'SSH_AGENT_PID'] },
  tmux: { paths: [], variables: ['TMUX', 'TMUX_PANE', 'TMUX_TMPDIR'] },
  wayland: {
    paths: ['$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY', '$WAYLAND_DISPLAY'],
    variables: ['WAYLAND_DISPLAY', 'WAYLAND_SOCKET'],
  },
  x11: { paths: ['/tmp/.X11-unix', '~/.Xauthority'], variables: ['DISPLAY', 'XAUTHORITY', 'ICEAUTHORITY'] },
}

export const SERVICE_NAMES: readonly string[] = Object.keys(SERVICES)

/** What is wrong with the name of a service; undefined: nothing. */
export function serviceTrouble(name: string): string | undefined {
  if (Object.hasOwn(SERVICES, name)) return undefined
  const close = nearest(name, SERVICE_NAMES)
  return `unknown service "${name}"${close ? `; did you mean "${close}"?` : '.'} Known: ${SERVICE_NAMES.join(', ')}`
}
