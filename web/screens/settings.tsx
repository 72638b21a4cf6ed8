/** Preferences of this browser, how other programs connect, and housekeeping. */
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
      <Section title="This browser" words="Keeps this server’s token, so you don’t have to paste it again.">
        <Button run={signOut}>Sign out</Button>
        <p class="muted">
          To come back, open the address that <code>ralph serve</code> prints. If others have seen the token, replace it
          with <code>ralph serve --new-token</code>.
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
  ['system', 'System'],
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
    <Section title="Notifications" words="Notify me when something needs me while I’m elsewhere.">
      {NO_NOTIFICATIONS[permission] ? (
        <p class="callout amber">{NO_NOTIFICATIONS[permission]}</p>
      ) : (
        <Button run={isOn ? turnOff : turnOn}>{isOn ? 'Turn off' : 'Turn on'}</Button>
      )}
      <p class="muted">
        {isOn ? 'On while this page is open in a tab.' : 'Off.'} For a webhook, see <code>notify_webhook</code> in
        config.yaml.
      </p>
    </Section>
  )
}

const NO_NOTIFICATIONS: Readonly<Record<string, string>> = {
  none: 'This browser has no notifications, or allows them only over HTTPS or on this machine.',
  denied: `The browser blocks them for this page. Allow them for ${location.origin} in its settings, then reload.`,
}

function permissionNow(): NotificationPermission | 'none' {
  return 'Notification' in globalThis ? Notification.permission : 'none'
}

function turnOff(): void {
  notify.value = 'off'
}
