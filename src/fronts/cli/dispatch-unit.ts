/** `ralph dispatch --install-unit`: a systemd user unit that starts a dispatcher at boot. */
import { join } from 'node:path'
import { oneLine } from '../../formats/one-line.ts'

/** `path`: the PATH for the service, because systemd starts no shell. */
export function printUnit({
  root,
  config,
  home,
  path,
}: {
  root: string
  config: string
  home: string
  path: string
}): string {
  const ralph = [process.execPath, join(root, 'bin', 'ralph.cjs'), 'dispatch', '--config', config]
  return `# ~/.config/systemd/user/ralph-dispatch.service, then:
#   systemctl --user daemon-reload
#   systemctl --user enable --now ralph-dispatch
#   loginctl enable-linger   # keeps it running while you are logged out
[Unit]
Description=ralph dispatch (${specifiers(oneLine(config))})
After=network-online.target

[Service]
ExecStart=${ralph.map((word) => quoted(word).replaceAll('$', '$$$$')).join(' ')}
Environment=${quoted(`RALPH_HOME=${home}`)}
Environment=${quoted(`PATH=${path}`)}
# The agents run in tmux and must survive a restart of the dispatcher.
KillMode=process
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
`
}

/** Quoted as one word. A dollar sign is special only in commands. */
function quoted(word: string): string {
  const plain = specifiers(word)
  if (/^[\w/.:=@%+,-]+$/.test(plain)) return plain
  return `"${plain.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`
}

/** systemd expands `%h` and the like everywhere. */
function specifiers(text: string): string {
  return text.replaceAll('%', '%%')
}
