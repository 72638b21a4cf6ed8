/** Whether two globs can match the same file. If that is hard to tell, yes: callers want to keep tasks apart. */
import { globParts, plainGlob } from './glob.ts'

export function globsOverlap(one: string, other: string): boolean {
  return machinesMeet(machineOf(one), machineOf(other))
}

/** The folders that every match is in, or the file itself. */
export function fixedFolders(glob: string): string[] {
  const plain = plainGlob(glob)
  if (!plain.includes('/')) return []
  const segments = plain.split('/')
  const wild = segments.findIndex((segment) => /[*?[{]/.test(segment))
  return wild < 0 ? segments : segments.slice(0, wild)
}

/** A glob as a state machine with empty transitions. State 0 is the start. */
export type GlobMachine = { steps: [letter: Letter, to: number][][]; skips: number[][]; end: number }

/** A literal character, or a class of them. */
type Letter = string | typeof IN_NAME | typeof ANY

const IN_NAME: unique symbol = Symbol('every letter but the slash')
const ANY: unique symbol = Symbol('every letter')

export function machineOf(glob: string): GlobMachine {
  const plain = plainGlob(glob)
  const machine = newMachine()
  if (plain === '' || plain === '.') {
    machine.loop(ANY)
    return machine.done()
  }
  if (!plain.includes('/')) machine.folders()
  for (const part of globParts(plain)) {
    if (part.kind === 'folders') machine.folders()
    else if (part.kind === 'anything') machine.loop(ANY)
    else if (part.kind === 'name') machine.loop(IN_NAME)
    else if (part.kind === 'letter') machine.step(IN_NAME)
    // Which characters two classes share is hard to tell, and a class such as [!a] contains the slash.
    else if (part.kind === 'class') machine.step(ANY)
    else if (part.kind === 'text') for (const letter of part.text.split('')) machine.step(letter)
    else machine[part.kind]()
  }
  machine.below()
  return machine.done()
}

function newMachine() {
  const steps: GlobMachine['steps'] = [[]]
  const skips: number[][] = [[]]
  const groups: { before: number; after: number }[] = []
  let here = 0
  const add = () => {
    skips.push([])
    return steps.push([]) - 1
  }
  const skip = (from: number, to: number) => skips[from]?.push(to)
  const step = (letter: Letter, to = add()) => {
    steps[here]?.push([letter, to])
    here = to
  }
  const loop = (letter: Letter) => {
    const again = add()
    skip(here, again)
    here = again
    step(letter, again)
    // A separate state follows, so that skipping the loop does not end in it.
    here = add()
    skip(again, here)
  }
  const optional = (way: () => void) => {
    const before = here
    way()
    skip(before, here)
  }
  return {
    step,
    loop,
    folders() {
      optional(() => {
        loop(ANY)
        step('/')
      })
    },
    below() {
      optional(() => {
        step('/')
        loop(ANY)
      })
    },
    open: () => groups.push({ before: here, after: add() }),
    or() {
      const group = groups.at(-1)
      if (group) skip(here, group.after)
      here = group?.before ?? here
    },
    close() {
      const group = groups.pop()
      if (group) skip(here, group.after)
      here = group?.after ?? here
    },
    done: (): GlobMachine => ({ steps, skips, end: here }),
  }
}

/** Walks both at once, over every reachable pair of states. */
export function machinesMeet(one: GlobMachine, other: GlobMachine): boolean {
  const width = other.steps.length
  const seen = new Set([0])
  for (const pair of seen) {
    const [mine, theirs] = [Math.floor(pair / width), pair % width]
    if (mine === one.end && theirs === other.end) return true
    for (const to of one.skips[mine] ?? []) seen.add(to * width + theirs)
    for (const to of other.skips[theirs] ?? []) seen.add(mine * width + to)
    for (const [letter, to] of one.steps[mine] ?? [])
      for (const [theirLetter, theirTo] of other.steps[theirs] ?? [])
        if (canBeSame(letter, theirLetter)) seen.add(to * width + theirTo)
  }
  return false
}

function canBeSame(one: Letter, other: Letter): boolean {
  if (one === other || one === ANY || other === ANY) return true
  if (one === IN_NAME) return other !== '/'
  return other === IN_NAME && one !== '/'
}
