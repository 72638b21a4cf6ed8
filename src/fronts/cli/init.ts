/** `ralph init`: creates a project with a spec template for the user to fill in. */
import { join, relative } from 'node:path'
import { ARTEFACTS, initProject } from '../../operations/init-project.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'init',
  words: 'NAME [options]',
  summary: 'Creates a project: writes a spec template for you to fill in.',
  about: `Creates ${ARTEFACTS}/NAME/spec.md, and never overwrites an existing one. In a git repository, the folder is kept out of commits
with .git/info/exclude.`,
  options: { dir: { value: 'D', help: 'folder the project is for (default: the current one)' } },
  examples: [['ralph init shop', `a spec in ${ARTEFACTS}/shop`]],
}

export const init: Command = {
  spec,
  async run(argv, context) {
    const args = parseArgs(spec, argv, 1)
    const name = projectName(args)
    const dir = args.text('dir')
    const inited = await initProject.run(context, { project: name, ...given({ dir }) })
    const { exclusion } = inited
    const folder = relative(context.cwd, inited.folder) || '.'
    context.out.write(`Created ${join(folder, 'spec.md')}. Describe what you want there, in your own words.\n`)
    context.out.write(`Next, agents can ask you about what is missing: ralph interview ${name}\n`)
    if (exclusion === 'excluded' || exclusion === 'ignored')
      context.out.write(`${folder} is kept out of commits. To commit it anyway: git add -f ${folder}\n`)
    return 0
  },
}

/** The NAME argument of the project commands. */
export function projectName({ words: [name], spec: asked }: Args): string {
  if (name !== undefined) return name
  throw usage(asked, `Missing project name: ralph ${asked.name} NAME.`)
}
