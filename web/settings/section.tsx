/** One section of the settings: explanation on the left, controls on the right. */
import type { ComponentChildren } from 'preact'

export function Section({ title, words, children }: { title: string; words: string; children: ComponentChildren }) {
  return (
    <section class="card setting">
      <div>
        <h2>{title}</h2>
        <p class="muted">{words}</p>
      </div>
      <div class="setting-body">{children}</div>
    </section>
  )
}
