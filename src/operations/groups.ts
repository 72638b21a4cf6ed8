/** The groups of the board: tasks with the same `project_id`. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { RalphError } from '../error.ts'
import { isName } from '../formats/board-fields.ts'
import type { BoardGroup } from '../formats/board-task.ts'
import { realFolder } from '../host/files.ts'
import { given } from '../request/given.ts'
import { refuseBelowTurn } from './below-turn.ts'
import type { Operation } from './operation.ts'

export const listGroups: Operation<Record<string, never>, { groups: BoardGroup[] }> = {
  name: 'list_groups',
  effect: 'read',
  summary: 'Lists the groups of the board. The id of a group is the project_id of its tasks.',
  run: async ({ store }) => ({ groups: await store().board.groups() }),
}

type Setting = { project_id: string; name?: string; repo?: string | null }

export const setGroup: Operation<Setting, BoardGroup> = {
  name: 'set_group',
  effect: 'write',
  summary: 'Creates or changes a group of the board: its name, and the folder its tasks work in.',
  person: true,
  async run(context, { project_id, name, repo }) {
    await refuseBelowTurn(context)
    if (!isName(project_id))
      throw new RalphError('input-invalid', `The id of a group must be a name, not a path, got "${project_id}".`, {
        field: 'project_id',
      })
    if (name?.trim() === '')
      throw new RalphError('input-invalid', 'The name of a group must not be empty.', { field: 'name' })
    const folder = repo ? mustBeFolder(resolve(context.cwd, repo)) : repo
    return context.store().board.saveGroup({ project_id, ...given({ name, repo: folder }) })
  },
}

function mustBeFolder(path: string): string {
  if (existsSync(path)) return realFolder(path)
  throw new RalphError('input-invalid', `${path} is not a folder. Name one that exists.`, { field: 'repo' })
}
