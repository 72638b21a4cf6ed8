/** Placeholder. */
export function NeedsScreen(_: { id?: string }) {
  return (
    <div class="screen">
      <h1>Needs</h1>
    </div>
  )
}
