/** What this browser prefers, how other programs connect, and the housekeeping of the board. */
import { useState } from 'preact/hooks'
import { forgetToken } from '../data/token.ts'
import { Button } from '../parts/common.tsx'
import { notify, type Theme, theme } from '../parts/settings.ts'
import { CleanUp } from '../settings/clean-up.tsx'
import { Connect } from '../settings/connect.tsx'
import { Groups } from '../settings/groups.tsx'
import { Import } from '../settings/import.tsx'
import { Section } from '../settings/section.tsx'

export function SettingsScreen() {
  return (
    <div class="screen settings">
      <header class="screen-head">
        <h1>Settings</h1>
      </header>
      <Appearance />
      <Notifications />
      <Groups />
      <Connect />
      <Import />
      <CleanUp />
      <Section title="This browser" words="It keeps the token of this server, so that you need not paste it again.">
        <Button run={signOut}>Sign out</Button>
        <p class="muted">
          To come back, open the address that <code>ralph serve</code> prints. A token that others have seen is replaced
          by <code>ralph serve --new-token</code>.
        </p>
      </Section>
    </div>
  )
}

function signOut(): void {
  forgetToken()
  location.reload()
}

const THEMES: readonly (readonly [value: Theme, words: string])[] = [
  ['system', 'Like the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

function Appearance() {
  return (
    <Section title="Appearance" words="For this browser.">
      <fieldset class="choices">
        <legend class="visually-hidden">Theme</legend>
        {THEMES.map(([value, words]) => (
          <label key={value}>
            <input
              type="radio"
              name="theme"
              checked={theme.value === value}
              onChange={() => {
                theme.value = value
              }}
            />
            {words}
          </label>
        ))}
      </fieldset>
    </Section>
  )
}

function Notifications() {
  const [permission, setPermission] = useState(permissionNow)
  const isOn = notify.value === 'on' && permission === 'granted'
  const turnOn = async () => {
    const answer = await Notification.requestPermission()
    setPermission(answer)
    notify.value = answer === 'granted' ? 'on' : 'off'
  }
  return (
    <Section title="Notifications" words="Tell me when something needs me and I am not looking.">
      {NO_NOTIFICATIONS[permission] ? (
        <p class="callout amber">{NO_NOTIFICATIONS[permission]}</p>
      ) : (
        <Button run={isOn ? turnOff : turnOn}>{isOn ? 'Turn off' : 'Turn on'}</Button>
      )}
      <p class="muted">
        {isOn ? 'They are on while this page is open in a tab.' : 'They are off.'} For a webhook, see{' '}
        <code>notify_webhook</code> in config.yaml.
      </p>
    </Section>
  )
}

const NO_NOTIFICATIONS: Readonly<Record<string, string>> = {
  none: 'This browser has none, or only for pages with https or on this machine.',
  denied: `The browser refuses them for this page. Allow them in its settings for ${location.origin}, then reload.`,
}

function permissionNow(): NotificationPermission | 'none' {
  return 'Notification' in globalThis ? Notification.permission : 'none'
}

function turnOff(): void {
  notify.value = 'off'
}
