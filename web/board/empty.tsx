/** Shown while the board has no tasks. */
import { Button, Code, Empty, Link } from '../parts/common.tsx'
import { newTask } from '../screens/task-dialog.tsx'

export function NoTasks() {
  return (
    <Empty title="No tasks yet">
      <p>
        A task says what to do, in which folder, and which checks prove it. Start it, and an agent keeps working on it
        until they pass.
      </p>
      <Button kind="primary" run={() => newTask()}>
        New task
      </Button>
      <p>In a terminal:</p>
      <Code>ralph board new "Fix the login" --repo ./shop --verify "npm test"</Code>
      <p>
        An agent can fill the board, too: it calls <code>create_task</code> through MCP. Coming from vibe-kanban? Import
        its tasks in <Link to="/settings">Settings</Link>.
      </p>
    </Empty>
  )
}
