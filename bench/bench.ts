/** `npm run bench`: measures every budget next to its yardstick, in one run, and prints a table. */
import { parseArgs } from 'node:util'
import { checkpoints } from './checkpoints.ts'
import { dispatch } from './dispatch.ts'
import { fleet } from './fleet.ts'
import { fleetPass } from './fleet-pass.ts'
import { growth } from './growth.ts'
import { hook } from './hook.ts'
import { live } from './live.ts'
import { printMachine, readMachine, yardsticks } from './machine.ts'
import { memory } from './memory.ts'
import { ownTime } from './own-time.ts'
import { page } from './page.ts'
import { project } from './project.ts'
import { proofPlace } from './proof-place.ts'
import { isOver, printHeader, printRow, type Row, toJson } from './row.ts'
import { serve } from './serve.ts'
import { vault } from './vault.ts'
import { version } from './version.ts'

const MEASURES: Readonly<Record<string, () => AsyncGenerator<Row>>> = {
  version,
  hook,
  'own-time': ownTime,
  checkpoints,
  'proof-place': proofPlace,
  project,
  vault,
  dispatch,
  serve,
  live,
  page,
  fleet,
  'fleet-pass': fleetPass,
  growth,
  memory,
}

const USAGE = `Usage: npm run bench -- [--only ${Object.keys(MEASURES).join('|')}] [--json] [--strict]
--strict exits with 1 when a budget is missed.`

const CALMEST = 'Figures compare the calmest round of each side.'

process.exitCode = await bench(process.argv.slice(2))

async function bench(argv: string[]): Promise<number> {
  const asked = readArguments(argv)
  if (typeof asked === 'string') {
    console.error(`${asked}\n${USAGE}`)
    return 2
  }
  const { only, json, strict } = asked
  const machine = readMachine()
  console.log(
    json ? JSON.stringify({ type: 'machine', ...machine }) : `${printMachine(machine)}\n${CALMEST}\n\n${printHeader()}`,
  )
  let missed = 0
  for (const [name, measure] of Object.entries({ yardsticks, ...MEASURES })) {
    if (only !== undefined && name !== only && name !== 'yardsticks') continue
    for await (const row of measure()) {
      console.log(json ? JSON.stringify({ type: 'row', name, ...toJson(row) }) : printRow(row))
      if (isOver(row)) missed += 1
    }
  }
  if (!json) console.log(missed === 0 ? '\nAll measured budgets are met.' : `\n${missed} over budget.`)
  return strict && missed > 0 ? 1 : 0
}

function readArguments(args: string[]): { only?: string; json: boolean; strict: boolean } | string {
  try {
    const { values } = parseArgs({
      args,
      options: { only: { type: 'string' }, json: { type: 'boolean' }, strict: { type: 'boolean' } },
    })
    const { only, json = false, strict = false } = values
    if (only !== undefined && !Object.hasOwn(MEASURES, only)) return `No such row: "${only}".`
    return { ...(only === undefined ? {} : { only }), json, strict }
  } catch (cause) {
    if (cause instanceof TypeError) return cause.message // what parseArgs says about an unknown argument
    throw cause
  }
}
