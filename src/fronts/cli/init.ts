/** `ralph init`: begins a project with a spec for the person to fill in. */
import { join, relative } from 'node:path'
import { ARTEFACTS, initProject } from '../../operations/init-project.ts'
import { given } from '../../request/given.ts'
import { type Args, type CommandSpec, parseArgs, usage } from './args.ts'
import type { Command } from './context.ts'

const spec: CommandSpec = {
  name: 'init',
  words: 'NAME [options]',
  summary: 'Begins a project: writes a spec for you to fill in.',
  about: `It makes ${ARTEFACTS}/NAME/spec.md below the folder and never overwrites one. In a git repository the folder is kept out of
commits through .git/info/exclude.`,
  options: { dir: { value: 'D', help: 'the folder the project is about' } },
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
    context.out.write(`Made ${join(folder, 'spec.md')}. Write there what you want, in your own words.\n`)
    context.out.write(`Then have agents ask about what is missing: ralph interview ${name}\n`)
    if (exclusion === 'excluded' || exclusion === 'ignored')
      context.out.write(`${folder} is kept out of commits; \`git add -f ${folder}\` would keep it with the code.\n`)
    return 0
  },
}

/** The one word of the commands that are about a project. */
export function projectName({ words: [name], spec: asked }: Args): string {
  if (name !== undefined) return name
  throw usage(asked, `A project needs a name: ralph ${asked.name} NAME.`)
}
