/** `ralph dispatch --install-unit`: a systemd user unit that starts a dispatcher with the machine. */
import { join } from 'node:path'

/** `path`: where programs are found, as a service has no shell to ask. */
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
#   loginctl enable-linger   # so that it runs while you are not logged in
[Unit]
Description=ralph dispatch (${quoted(config)})
After=network-online.target

[Service]
ExecStart=${ralph.map(quoted).join(' ')}
Environment=${quoted(`RALPH_HOME=${home}`)}
Environment=${quoted(`PATH=${path}`)}
# The agents live in tmux, and stay when the dispatcher is started again.
KillMode=process
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
`
}

/** As systemd reads a word; a percent sign means something to it. */
function quoted(word: string): string {
  const plain = word.replaceAll('%', '%%')
  return /^[\w/.:=@%+,-]+$/.test(plain)
    ? plain
    : `"${plain.replace(/[\\"$]/g, (char) => (char === '$' ? '$$' : `\\${char}`))}"`
}
