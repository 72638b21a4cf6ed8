import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { findOwnProgram, ownFolders } from './own-program.ts'
import { temporaryFolder } from './place.test-support.ts'

function program(file: string): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 })
  return file
}

test('is looked up outside the folder that an agent works in', () => {
  const [work, machine] = [temporaryFolder(), temporaryFolder()]
  program(join(work, 'bin/git'))
  const own = program(join(machine, 'git'))
  const path = ['', '.', 'bin', join(work, 'bin'), machine].join(delimiter)
  expect(findOwnProgram('git', work, path)).toBe(own)
  expect(ownFolders(work, path)).toEqual([machine])
})

test('is not one that a link outside points to', () => {
  const [work, machine] = [temporaryFolder(), temporaryFolder()]
  program(join(work, 'bin/git'))
  symlinkSync(join(work, 'bin'), join(machine, 'linked'))
  const own = program(join(machine, 'bin/git'))
  expect(findOwnProgram('git', work, [join(machine, 'linked'), join(machine, 'bin')].join(delimiter))).toBe(own)
})

test('is the one inside if it is nowhere else, but never through a relative folder', () => {
  const work = temporaryFolder()
  const inside = program(join(work, 'bin/git'))
  expect(findOwnProgram('git', work, join(work, 'bin'))).toBe(inside)
  expect(findOwnProgram('git', work, ['', '.', 'bin'].join(delimiter))).toBeUndefined()
})
