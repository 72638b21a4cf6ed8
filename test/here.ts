/** The built ralph, run inside the test process: most of what it does needs no process of its own. */
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import type * as Cli from '../src/fronts/cli/main.ts'
import { openRecorder } from '../src/fronts/cli/screen.test-support.ts'

const ROOT = resolve(import.meta.dirname, '..')
const require = createRequire(import.meta.url)

export type CommandResult = { code: number; stdout: string; stderr: string }

/** Runs one command line to completion. */
export async function ralphHere(
  args: readonly string[],
  { env, cwd, stdin = '' }: { env: Readonly<Record<string, string | undefined>>; cwd: string; stdin?: string },
): Promise<CommandResult> {
  // The built bundle, so that no difference to the source goes unnoticed; its types are those of the source.
  const { main } = require(join(ROOT, 'dist', 'cli.cjs')) as typeof Cli
  const [out, err] = [openRecorder(), openRecorder()]
  const code = await main(
    args,
    { root: ROOT, version: require('../package.json').version },
    { env, cwd: () => cwd, stdin: Readable.from([stdin]), stdout: out.stream, stderr: err.stream },
  )
  return { code, stdout: out.text(), stderr: err.text() }
}
