/** Placeholder. */
export function PanesScreen(_: { id?: string }) {
  return (
    <div class="screen">
      <h1>Panes</h1>
    </div>
  )
}
