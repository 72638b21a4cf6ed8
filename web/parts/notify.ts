/** Notifies the user that something needs them while they look elsewhere. */
import { go } from '../data/route.ts'
import { count } from '../words.ts'
import { notify } from './settings.ts'

let told = 0

export function notifyAbout(unread: number): void {
  const more = unread > told
  told = unread
  if (!more || notify.value === 'off' || document.visibilityState === 'visible') return
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return
  const note = new Notification('ralph needs you', {
    body: `${count(unread, 'loop')} waiting for you`,
    tag: 'ralph-needs',
  })
  note.onclick = () => {
    focus()
    go('/needs')
    note.close()
  }
}
