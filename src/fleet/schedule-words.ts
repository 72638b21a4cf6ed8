/** Why a task of the fleet has not started yet, in a sentence for people. */
import type { Held, Lack } from './picture.ts'

/** `time` formats a time for the reader. */
export function heldSentence(held: Held, time: (at: number) => string): string {
  switch (held.kind) {
    case 'dependencies':
      return `Waiting for ${some(held.on, 'and')} to finish.`
    case 'not-due':
      return `Starts after ${time(held.until)}.`
    case 'no-worker':
      return lackSentence(held.lack)
    case 'account-paused':
      return held.accounts.length === 1
        ? `Rate-limited: account ${held.accounts[0]} is paused until ${time(held.until)}.`
        : `Rate-limited: accounts ${some(held.accounts, 'and')} are paused, the first until ${time(held.until)}.`
    case 'branch-taken':
      return `Waiting for ${held.by}, which uses the same branch.`
    case 'files-taken':
      return `Waiting for ${held.by}, which may change the same files: ${held.glob} overlaps ${held.theirs}.`
    case 'over-budget':
      return `Waiting for budget: it may cost ${usd(held.reserveUsd)}, but its submitter has only ${usd(held.leftUsd)} left today (UTC).`
    case 'no-slot':
      return held.slots === 1
        ? 'Waiting for the only worker slot that can run it.'
        : `Waiting for one of the ${held.slots} worker slots that can run it.`
  }
}

function lackSentence(lack: Lack): string {
  switch (lack.kind) {
    case 'workers':
      return 'No worker is running. Start one with `ralph worker`.'
    case 'draining':
      return 'Every worker that could run it is draining.'
    case 'combination':
      return 'No single worker has both the agent and all the labels it needs.'
    case 'agents':
      return `No worker offers ${some(lack.agents, 'or')}.`
    case 'labels':
      return `No worker has the ${lack.labels.length === 1 ? 'label' : 'labels'} ${some(lack.labels, 'and')}.`
  }
}

const MOST = 5

function some(names: readonly string[], last: 'and' | 'or'): string {
  const shown = names.length > MOST ? [...names.slice(0, MOST - 1), `${names.length - MOST + 1} more`] : names
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${last} ${shown.at(-1)}`
}

function usd(amount: number): string {
  return `$${Math.max(0, amount).toFixed(2)}`
}
