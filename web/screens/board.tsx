/** Placeholder. */
export function BoardScreen(_: { id?: string }) {
  return (
    <div class="screen">
      <h1>Board</h1>
    </div>
  )
}
