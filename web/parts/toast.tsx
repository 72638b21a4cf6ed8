/** Short messages about what just happened, also announced by screen readers. */
import { signal } from '@preact/signals'
import type { Tone } from '../badge.ts'

type Toast = { id: number; tone: Tone; text: string; action?: { words: string; run: () => unknown } }

const toasts = signal<readonly Toast[]>([])
let last = 0

export function toast({ tone = 'gray', ...given }: Omit<Toast, 'id' | 'tone'> & { tone?: Tone }): void {
  const id = ++last
  toasts.value = [...toasts.value.slice(-3), { id, tone, ...given }]
  setTimeout(() => close(id), tone === 'red' ? 12_000 : 6_000)
}

/** Errors are shown in the server's words. */
export async function attempt(run: () => unknown): Promise<void> {
  try {
    await run()
  } catch (cause) {
    toast({ tone: 'red', text: cause instanceof Error ? cause.message : String(cause) })
  }
}

function close(id: number): void {
  toasts.value = toasts.value.filter((one) => one.id !== id)
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, action }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              class="button quiet"
              onClick={() => {
                close(id)
                void attempt(action.run)
              }}
            >
              {action.words}
            </button>
          )}
          <button type="button" class="button quiet" aria-label="Close this message" onClick={() => close(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
