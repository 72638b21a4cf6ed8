/** `ralph demo --serve`: a sample board in a temporary folder, served as `ralph serve` does. */
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { openContext } from '../../../operations/context.ts'
import { given } from '../../../request/given.ts'
import type { Args } from '../args.ts'
import type { Context } from '../context.ts'
import { openStatusLine } from '../live.ts'
import { addressOf, loadServer, onStop, openBrowser, portOf, type Running } from '../serve.ts'
import { paint } from '../text.ts'
import { fillBoard } from './board.ts'

/** Returns 0 however it is stopped. */
export async function serveDemo(args: Args, context: Context): Promise<number> {
  const port = portOf(args)
  const { root, version, err } = context
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-demo-')))
  const env = demoEnvironment(context.env, join(folder, 'home'))
  const stopping = onStop()
  const note = (text: string) => err.write(`ralph: ${text}\n`)
  try {
    await fill({ ...context, env }, folder, stopping.signal)
    if (stopping.signal.aborted) return 0
    const { serve } = await loadServer(context)
    await serve({
      ...{ root, version, env, note, cwd: folder, stop: stopping.signal, ...given({ port }) },
      ...{ host: '127.0.0.1', allowHosts: [], concurrency: 4, newToken: false },
      ready(server) {
        welcome(context, server, folder)
        if (args.flag('open')) openBrowser(addressOf(server), note)
      },
    })
    return 0
  } finally {
    stopping.release()
    context.out.write(`\nThe board is still in ${folder}. Remove it with: rm -rf ${folder}\n`)
  }
}

/** Without the user's own ralph settings, and with this Node for checks and agents. */
function demoEnvironment(env: Context['env'], home: string): Context['env'] {
  const others = Object.entries(env).filter(([name]) => !name.startsWith('RALPH_'))
  const PATH = [dirname(process.execPath), env.PATH].filter(Boolean).join(delimiter)
  return { ...Object.fromEntries(others), PATH, RALPH_HOME: home }
}

async function fill({ root, env, out }: Pick<Context, 'root' | 'env' | 'out'>, folder: string, stop: AbortSignal) {
  const status = openStatusLine(out)
  const context = openContext({ root, env, cwd: () => folder, note: () => {} })
  if (!out.live) out.write('Filling the board …\n')
  try {
    await fillBoard(context, folder, {
      stop,
      saw: (done, of) => status.set(() => `Filling the board: ${done} of ${of} …`),
    })
  } finally {
    status.clear()
    await context.close()
  }
}

function welcome({ out, version }: Context, server: Running, folder: string): void {
  out.write(`${paint(out, 'bold', 'ralph')} ${version} · ${addressOf(server)}

What to look at:
  · "Support 24 more currencies" is running: the number of failures drops while you watch.
  · "Renew subscriptions at the end of the month" asks you a question. Answer it, and the loop continues.
  · "Make the VAT tests pass again" has changed its tests and is waiting for you to allow it.
  · "Add CSV export" is waiting for your review, in its own worktree.
  · "Fix the totals and discounts of the cart" lied, then edited a test, then did the work.
  · Other loops are stuck, have crashed, or are waiting out a rate limit. You can start the tasks in todo.

The repositories, checks and proofs are real. The agents replay scripts: no model is called, and nothing costs money unless you start
your own task with a real agent. Costs and past dates are made up.

Everything is in ${folder}. Press Ctrl-C to stop.
`)
}
