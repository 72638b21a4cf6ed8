import { expect, test } from 'vitest'
import { PEM_LINES, PEM_RAW } from '../formats/secrets.test-support.ts'
import { openMask } from '../host/mask.ts'
import { maskedOutput } from './masked-output.ts'

const KEY = `ghp_${'a1B2'.repeat(9)}`
const output = () => maskedOutput({ masking: () => openMask([]) })
const shown = (event: object) => JSON.stringify(event)

test('a line that arrives in several pieces is masked, wherever its secret was', () => {
  for (const pieces of [
    [`I found ${KEY}`, ' here.\n'],
    [`I found ${KEY} here`, ' and go on.\n'],
    [`I found ${KEY} here`, ' and', ' go on', '.\nNext.\n'],
    ['I found ', `${KEY} here`, '.\n'],
    [`I found ${KEY.slice(0, 9)}`, `${KEY.slice(9)} here`, '.\n'],
  ]) {
    const masked = output()
    for (const piece of pieces) masked.piece(piece, 'out')
    const line = pieces.join('').split('\n')[0] ?? ''
    expect(shown(masked.event({ kind: 'text', text: line }, line, 'out'))).not.toContain(KEY)
  }
})

test('lines after one with a secret are unchanged', () => {
  const masked = output()
  masked.piece(`I found ${KEY} here.\n`, 'out')
  masked.piece('All is well.\n', 'out')
  const event = { kind: 'text', text: 'All is well.' } as const
  expect(masked.event(event, 'All is well.', 'out')).toBe(event) // not even searched
})

test('a key whose lines arrive one by one, with output of the other stream in between, is masked', () => {
  const masked = output()
  const told = PEM_LINES.flatMap((line) => {
    masked.piece(`${line}\n`, 'out')
    masked.piece('Still at work.\n', 'err')
    return [
      masked.event({ kind: 'text', text: line }, line, 'out'),
      masked.event({ kind: 'warning', message: 'Still at work.' }, 'Still at work.', 'err'),
    ]
  })
  for (const raw of PEM_RAW) expect(shown(told)).not.toContain(raw)
})
