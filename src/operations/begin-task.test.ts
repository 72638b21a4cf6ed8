/** A task on the board becomes a loop, even if it changes at that moment. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { OPERATIONS } from './index.ts'
import { openPlace } from './place.test-support.ts'

test('a task that changes while it starts uses the new text', async () => {
  const place = openPlace()
  writeFileSync(join(place.cwd, 'turns.json'), '{ "turns": [[{ "text": "I worked." }]] }')
  writeFileSync(join(place.cwd, 'ralph.config.json'), '{ "mcp": true }')
  const task = await place.run('create_task', { title: 'Old words', agent: 'scripted:turns.json' })
  const { board } = place.context.store()
  // The config asks for something that this agent cannot do: reported while the loop is prepared.
  const note = () => void board.save({ ...task, title: 'New words', use_ralph_wiggum: false })
  const { loop } = await OPERATIONS.start_loop.run({ ...place.context, note }, { task_id: task.id })
  const { spec } = await place.context.store().load(loop)
  expect(spec).toMatchObject({ limits: { iterations: 1 }, work: { owner: { kind: 'board', task: task.id } } })
  expect(spec.prompt).toContain('New words')
  expect(await board.load(task.id)).toMatchObject({ title: 'New words', loop_id: loop, status: 'in-progress' })
})
