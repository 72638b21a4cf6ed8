/** A new project: a spec for the user to fill in, kept out of commits. */
import { join } from 'node:path'
import { RalphError } from '../error.ts'
import { renderTemplate } from '../formats/template.ts'
import { type Exclusion, excludeFromGit } from '../host/exclude.ts'
import { ARTEFACTS, type Project, projectAt, readFace, writeFace } from './folder.ts'
import { ownTemplate } from './templates.ts'

export async function initProject(dir: string, name: string): Promise<{ project: Project; exclusion: Exclusion }> {
  const project = projectAt(dir, name)
  if (readFace(project, 'spec.md') !== undefined)
    throw new RalphError(
      'input-invalid',
      `${join(project.folder, 'spec.md')} already exists and was not changed. Edit it, or continue with: ralph interview ${name}`,
    )
  writeFace(project, 'spec.md', blankSpec(name))
  return { project, exclusion: await excludeFromGit(project.dir, ARTEFACTS) }
}

/** The spec before anyone has filled it in. */
export function blankSpec(name: string): string {
  return renderTemplate(ownTemplate('spec.md'), { project_name: name }, 'spec.md')
}
