export function SettingsScreen(_: { id?: string }) { return <div class="screen"><h1>Settings</h1></div> }
