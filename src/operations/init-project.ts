/** Creates a project with a spec for a person to fill in. */
import { projectAt, readFace } from '../project/folder.ts'
import { initProject as init } from '../project/init.ts'
import { withoutPast } from '../project/lock.ts'
import type { Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

export { ARTEFACTS } from '../project/folder.ts'

type Inited = Awaited<ReturnType<typeof init>>

/** `exclusion`: whether git ignores its files. */
export type InitedProject = { folder: string; exclusion: Inited['exclusion'] }

export const initProject: Operation<{ project: string; dir?: string }, InitedProject> = {
  name: 'init_project',
  effect: 'write',
  summary: 'Creates a project with a spec for a person to fill in.',
  async run(context, { project: name, dir }) {
    const folder = workFolder(context, dir)
    const made = projectAt(folder, name)
    const isNew = (['spec.md', 'tasks.json', 'state.json'] as const).every((face) => readFace(made, face) === undefined)
    if (isNew) await withoutPast(made, context)
    const { project, exclusion } = await init(folder, name)
    return { folder: project.folder, exclusion }
  },
}
