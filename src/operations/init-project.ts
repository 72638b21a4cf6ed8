/** Begins a project with a spec for a person to fill in. */
import { initProject as init } from '../project/init.ts'
import type { Operation } from './operation.ts'
import { workFolder } from './start-loop.ts'

export { ARTEFACTS } from '../project/folder.ts'

type Begun = Awaited<ReturnType<typeof init>>

/** `exclusion`: whether git leaves its files alone. */
export type InitedProject = { folder: string; exclusion: Begun['exclusion'] }

export const initProject: Operation<{ project: string; dir?: string }, InitedProject> = {
  name: 'init_project',
  effect: 'write',
  summary: 'Creates a project with a spec for a person to fill in.',
  async run(context, { project: name, dir }) {
    const { project, exclusion } = await init(workFolder(context, dir), name)
    return { folder: project.folder, exclusion }
  },
}
