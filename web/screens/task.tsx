/** Placeholder. */
export function TaskScreen(_: { id?: string }) {
  return (
    <div class="screen">
      <h1>Task</h1>
    </div>
  )
}
