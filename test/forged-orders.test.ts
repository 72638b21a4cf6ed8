/**
 * Orders that nobody gave through ralph: what an agent writes into the database is validated, and anything invalid is
 * dropped and reported.
 */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makePlace, type Place, query } from './ralph.ts'

/** An agent that leaves these orders for its own loop, and claims to be done. */
function forges(place: Place, ...orders: string[]): string {
  place.write(
    'forge.mjs',
    `import { DatabaseSync } from 'node:sqlite'
     const database = new DatabaseSync(${JSON.stringify(join(place.home, 'ralph.db'))}, { timeout: 5000 })
     const leave = database.prepare('INSERT INTO told (loop, at, by, "order") VALUES (?, 1, ?, ?)')
     for (const order of ${JSON.stringify(orders)}) leave.run(process.env.RALPH_LOOP_ID, 'you', order)
     database.close()`,
  )
  return place.agent(
    'node --no-warnings forge.mjs; echo "$RALPH_ITERATION" >> work.txt; echo "<promise>COMPLETE</promise>"',
  )
}

function run(place: Place, agent: string): ReturnType<Place['ralph']> {
  return place.ralph(['run', 'Do it', '--agent', agent, '--verify', 'test -e ready', '--max-iterations', '2', '--json'])
}

describe.concurrent('an order with more fields than its kind has', () => {
  test('changes nothing, is reported, and is deleted', async () => {
    const place = makePlace()
    const { end } = await run(place, forges(place, '{"kind":"edit","checks":["true"]}'))
    expect(end).toMatchObject({ status: 'halted', reason: 'max-iterations' })
    expect(query(place, `SELECT json_extract(spec, '$.checks') AS checks FROM loop`)).toEqual([
      { checks: '["test -e ready"]' },
    ])
    expect(query(place, 'SELECT * FROM told')).toEqual([])
    const { stdout } = await place.ralph(['show', String(end.loop_id)])
    expect(stdout).toContain('An order from you could not be read and was ignored: "checks" is an unknown field.')
  })

  test.each([
    ['an unknown kind', '{"kind":"complete","proof":"verified"}'],
    ['no kind', '{"checks":["true"]}'],
    ['a text', '"cancel"'],
    ['nothing', 'null'],
    ['a list', '[{"kind":"cancel"}]'],
    ['no JSON', '{"kind":"cancel"'],
    ['a number instead of text', '{"kind":"edit","prompt":7}'],
    ['text as a limit', '{"kind":"limits","limits":{"iterations":"0"}}'],
    ['an unknown limit', '{"kind":"limits","limits":{"checks":0}}'],
    ['a prototype', '{"kind":"edit","__proto__":{"checks":["true"]}}'],
    ['an inherited field', '{"kind":"resume","constructor":1}'],
    ['an inherited kind', '{"kind":"constructor"}'],
    ['depth', `{"kind":"say","words":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('%s is no valid order either', async (_, order) => {
    const place = makePlace({ git: false })
    const ran = await run(place, forges(place, order))
    expect(ran.end).toMatchObject({ status: 'halted', reason: 'max-iterations', iterations: 2 })
    expect(ran.stderr).toBe('')
    expect(query(place, 'SELECT * FROM told')).toEqual([])
    const dropped = query(place, `SELECT fact FROM event WHERE json_extract(fact, '$.order.kind') = 'dropped'`)
    expect(dropped).toHaveLength(2)
    expect((await place.ralph(['show', String(ran.end.loop_id)])).stdout).toContain('could not be read')
    await place.ralph(['doctor', '--rebuild'])
    expect((await place.ralph(['status', String(ran.end.loop_id), '--json'])).end).toMatchObject({ status: 'halted' })
  })

  test('does not block the orders behind it', async () => {
    const place = makePlace({ git: false })
    const { end } = await run(place, forges(place, '{"kind":"edit","checks":["true"]}', '{"kind":"cancel"}'))
    expect(end).toMatchObject({ status: 'cancelled' })
  })
})
