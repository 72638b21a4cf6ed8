/** Many live readers in their own process: given the server's address, it prints the delay of each event and how many each reader got. */
import { readLive } from '../src/fronts/server/live-client.ts'

const [, , url = '', token = '', count = '1'] = process.argv
const stop = new AbortController()
const late: number[] = []
const got: number[] = []
let measuring = false

async function read(): Promise<void> {
  let events = 0
  let lost = 0
  for await (const item of readLive({ url, token, topics: ['loops'], signal: stop.signal })) {
    if (item.kind === 'connected') process.stdout.write('{"connected":true}\n')
    if (item.kind === 'lost') lost += 1
    if (item.kind !== 'message' || item.message.type !== 'loop-event' || !measuring) continue
    late.push(Date.now() - item.message.at)
    events += 1
  }
  if (lost > 1) throw new Error(`A reader was disconnected ${lost} times.`)
  got.push(events)
}

const readers = Array.from({ length: Number(count) }, read)
process.stdin.on('data', async (said) => {
  measuring = true
  if (!String(said).includes('stop')) return
  stop.abort()
  await Promise.all(readers)
  late.sort((a, b) => a - b)
  const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))]
  process.stdout.write(
    `${JSON.stringify({ p50: at(0.5), p95: at(0.95), p99: at(0.99), events: [Math.min(...got), Math.max(...got)] })}\n`,
  )
  process.exit()
})
