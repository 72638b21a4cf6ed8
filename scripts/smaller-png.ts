/** Shrinks screenshots to a fraction of their bytes: 256 colors are enough for letters and lines. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])
const MOST_COLOURS = 256

/** Takes what browsers write: eight bits per channel, no transparency, not interlaced. Anything else stays as it is. */
export function smallerPng(png: Buffer): Buffer {
  const chunks = [...readChunks(png)]
  const head = chunks.find(({ type }) => type === 'IHDR')?.data
  if (head?.[8] !== 8 || head[9] !== 2 || head[12] !== 0) return png
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const packed = chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)
  const pixels = unfilter(inflateSync(Buffer.concat(packed)), width * 3, height)
  const { palette, indexes } = reduce(pixels)
  const rows = Buffer.alloc((width + 1) * height) // each starts with 0: not filtered
  for (let y = 0; y < height; y += 1) rows.set(indexes.subarray(y * width, (y + 1) * width), y * (width + 1) + 1)
  const newHead = Buffer.from(head)
  newHead[9] = 3
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', newHead),
    chunk('PLTE', Buffer.from(palette.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function* readChunks(png: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    yield { type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) }
    at += 12 + length
  }
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

/** Each byte was stored as its difference from the value predicted by its neighbors. */
function unfilter(bytes: Buffer, row: number, height: number): Buffer {
  const out = Buffer.alloc(row * height)
  for (let y = 0; y < height; y += 1) {
    const kind = bytes[y * (row + 1)]
    for (let x = 0; x < row; x += 1) {
      const left = x >= 3 ? (out[y * row + x - 3] ?? 0) : 0
      const up = y > 0 ? (out[(y - 1) * row + x] ?? 0) : 0
      const corner = x >= 3 && y > 0 ? (out[(y - 1) * row + x - 3] ?? 0) : 0
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind ?? 0] ?? 0
      out[y * row + x] = (bytes[y * (row + 1) + 1 + x] ?? 0) + predicted
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** Maps every color to the nearest of at most 256; even the color of a small dot must survive. */
function reduce(pixels: Buffer): { palette: number[]; indexes: Buffer } {
  const counts = new Map<number, number>()
  const colors = Uint32Array.from({ length: pixels.length / 3 }, (_, at) => pixels.readUIntBE(at * 3, 3))
  for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1)
  const frequent = [...counts].sort(([, a], [, b]) => b - a).map(([color]) => color)
  let palette = frequent
  for (let away = 2; palette.length > MOST_COLOURS; away *= 1.25) palette = apart(frequent, away)
  const index = new Map(frequent.map((color) => [color, nearest(palette, color)]))
  return { palette, indexes: Buffer.from(Array.from(colors, (color) => index.get(color) ?? 0)) }
}

/** Enough colors that every other one is at most this far from one of them. */
function apart(colors: readonly number[], away: number): number[] {
  const taken: number[] = []
  for (const color of colors) if (taken.every((one) => distance(one, color) > away ** 2)) taken.push(color)
  return taken
}

function nearest(palette: readonly number[], color: number): number {
  let best = 0
  for (const [at, one] of palette.entries()) if (distance(one, color) < distance(palette[best] ?? 0, color)) best = at
  return best
}

function distance(one: number, other: number): number {
  const of = (bits: number) => (((one >> bits) & 255) - ((other >> bits) & 255)) ** 2
  return of(16) + of(8) + of(0)
}
