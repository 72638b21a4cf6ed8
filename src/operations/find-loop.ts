/** Finds the loop or the project that a name refers to. */
import { ended, type Loop } from '../engine/loop.ts'
import { RalphError } from '../error.ts'
import { realFolder } from '../host/files.ts'
import { listProjects, openProject, type Project } from '../project/folder.ts'
import { loopsOf } from '../project/past.ts'
import type { Context } from './operation.ts'
import { ownerOf } from './owners.ts'
import { roomHint, standingOf } from './standing.ts'

/** The project of that name in this folder, if there is one. */
export function findProject({ cwd }: Pick<Context, 'cwd'>, name: string): Project | undefined {
  return listProjects(cwd).includes(name) ? openProject(cwd, name) : undefined
}

/** An id or its prefix, a fleet task, or a project: its newest open loop. Without a name: the newest loop of this folder. */
export async function findLoop(context: Context, name: string | undefined): Promise<string> {
  const store = context.store()
  const project = name === undefined ? undefined : findProject(context, name)
  const loops = project ? (await loopsOf(project, store)).reverse() : []
  for (const id of loops) if (await isOpen(context, id)) return id
  if (loops[0] !== undefined) return loops[0]
  const task = name === undefined ? undefined : await store.fleet?.load(name)
  if (task) return task.loop_id
  if (name !== undefined) return store.find(name)
  const [newest] = (await store.list({ dir: realFolder(context.cwd), limit: 1 })).rows
  if (newest) return newest.id
  throw new RalphError(
    'loop-unknown',
    'No loop has been started in this folder. Name a loop; `ralph status` lists all loops.',
  )
}

async function isOpen(context: Context, id: string): Promise<boolean> {
  const loop = await context
    .store()
    .load(id)
    .catch(() => undefined) // the project was killed before it created the loop
  return loop !== undefined && !ended(loop)
}

/** All open loops that a name refers to: those of a project, or a single one. */
export async function findOpenLoops(context: Context, name: string | undefined): Promise<string[]> {
  const project = name === undefined ? undefined : findProject(context, name)
  if (!project) return [await findLoop(context, name)]
  const ids = await loopsOf(project, context.store())
  const open = await Promise.all(ids.map(async (id) => ((await isOpen(context, id)) ? [id] : [])))
  if (open.flat().length > 0) return open.flat()
  throw new RalphError('loop-ended', `No task of project ${project.name} is running.`)
}

/** The loop, which must not have ended. */
export async function mustBeOpen(context: Context, id: string): Promise<Loop> {
  const loop = await context.store().load(id)
  if (!ended(loop)) return loop
  throw new RalphError(
    'loop-ended',
    `Loop ${id} has ended: ${standingOf(loop).sentence} ${[...roomHint(loop), ownerOf(loop).again(loop)].join(' · ')}`,
  )
}
