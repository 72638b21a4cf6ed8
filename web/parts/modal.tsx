/** The one open dialog, whoever opened it. */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

const open = signal<ComponentChildren>(undefined)

export function showModal(content: ComponentChildren): void {
  open.value = content
}

export function closeModal(): void {
  open.value = undefined
}

export function Modal() {
  return <>{open.value}</>
}
