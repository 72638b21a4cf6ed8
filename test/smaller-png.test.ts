/** Screenshots get smaller and still show the same. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { smallerPng } from '../scripts/smaller-png.ts'

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10])

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(data.length)
  numbers.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([numbers.subarray(0, 4), body, numbers.subarray(4)])
}

/** Each row is stored with the differences from the row above it. */
function pngOf(width: number, height: number, colorAt: (x: number, y: number) => number): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2], 8)
  const rows = Buffer.alloc((width * 3 + 1) * height)
  const channel = (x: number, y: number, at: number) => (y < 0 ? 0 : (colorAt(x, y) >> (16 - 8 * at)) & 255)
  for (let y = 0; y < height; y += 1) {
    rows[y * (width * 3 + 1)] = 2
    for (let x = 0; x < width; x += 1)
      for (let at = 0; at < 3; at += 1)
        rows[y * (width * 3 + 1) + 1 + x * 3 + at] = channel(x, y, at) - channel(x, y - 1, at)
  }
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([SIGNATURE, ...parts])
}

function colorsOf(png: Buffer): number[] {
  const found = new Map<string, Buffer>()
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
    found.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [head, palette, packed] = ['IHDR', 'PLTE', 'IDAT'].map((type) => found.get(type) ?? Buffer.alloc(0))
  const width = head?.readUInt32BE(0) ?? 0
  const rows = inflateSync(packed ?? '')
  return [...rows].flatMap((index, at) => (at % (width + 1) === 0 ? [] : [palette?.readUIntBE(index * 3, 3) ?? 0]))
}

test('a picture with few colors stays as it is, pixel by pixel', () => {
  const colorAt = (x: number, y: number) => ((x * 3) << 16) | ((y * 7) << 8) | 9
  const png = pngOf(16, 9, colorAt)
  const expected = Array.from({ length: 16 * 9 }, (_, at) => colorAt(at % 16, Math.floor(at / 16)))
  expect(colorsOf(smallerPng(png))).toEqual(expected)
})

test('a picture with many colors keeps a single dot that stands out', () => {
  const colorAt = (x: number, y: number) => (x === 7 && y === 3 ? 0x00ff00 : (x * y * 40_503) & 0x3f003f)
  expect(colorsOf(smallerPng(pngOf(100, 60, colorAt)))[3 * 100 + 7]).toBe(0x00ff00)
})

test('a picture that is already small stays as it is', () => {
  const small = smallerPng(pngOf(8, 8, (x) => x))
  expect(smallerPng(small)).toBe(small)
})
