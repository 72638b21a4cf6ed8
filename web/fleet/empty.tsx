/** Empty states of the fleet: how to get started. */
import { go } from '../data/route.ts'
import { Button, Code, Empty, Sentence } from '../parts/common.tsx'

export function NoFleet({ message }: { message: string }) {
  return (
    <Empty title="This server has no fleet">
      <p>
        <Sentence text={message} />
      </p>
      <p>A fleet shares a PostgreSQL database: tasks wait there, and workers on any machine take them. Start with:</p>
      <Code>ralph serve --database postgres://user@host/ralph</Code>
    </Empty>
  )
}

export function NoTasks({ workers }: { workers: number }) {
  return (
    <Empty title="No tasks yet">
      {workers === 0 && (
        <>
          <p>Start a worker on each machine that should run tasks:</p>
          <Code>ralph worker --database postgres://user@host/ralph</Code>
        </>
      )}
      <p>Submit a task. A worker clones the repository, runs the loop there, and pushes each iteration to a branch:</p>
      <Code>{SUBMIT}</Code>
    </Empty>
  )
}

const SUBMIT =
  'ralph submit "Make the tests pass" --repo git@example.com:shop/api.git --verify "npm test" --database postgres://user@host/ralph'

export function NoMatch() {
  return (
    <Empty title="No task matches">
      <Button run={() => go('/fleet', { replace: true })}>Show all tasks</Button>
    </Empty>
  )
}

export function NoWorkers() {
  return (
    <Empty title="No workers">
      <p>Tasks wait until a worker can run them. Start one on each machine that should take tasks:</p>
      <Code>ralph worker --database postgres://user@host/ralph</Code>
      <p>
        It offers the agents that are installed and logged in there. <code>--concurrency</code> sets how many tasks it
        runs at a time, <code>--labels</code> what tasks can ask for.
      </p>
    </Empty>
  )
}
