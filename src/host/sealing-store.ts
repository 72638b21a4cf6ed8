/** The way into the store: everything stored outside a visit goes through here, and its secrets are sealed. */
import { isRalphError } from '../error.ts'
import type { BoardTask } from '../formats/board-task.ts'
import { bringSecrets, shareSecrets } from './fleet-secrets.ts'
import type { FleetRecords } from './fleet-store.ts'
import { mask, maskIn } from './mask.ts'
import { sealIn, sealLoop } from './sealed.ts'
import type { Mail, Store, Telling } from './store.ts'

/** Facts are sealed before they move a loop: see `LoopStore.sealed`. */
export function sealingStore<Whole extends Store>(home: string, store: Whole): Whole {
  const { tasks, panes, board, comments, reports, fleet } = store
  const told = (tellings: readonly Telling[] = []) => sealTellings(home, tellings)
  return {
    ...store,
    create: (loop, tellings) => store.create(sealLoop(home, loop), told(tellings)),
    async tell(id, by, order) {
      const sealed = sealIn(home, order)
      if (fleet) await shareSecrets(home, fleet, sealed)
      await store.tell(id, mask(by), sealed)
    },
    async nextOrder(id) {
      const fact = await store.nextOrder(id)
      if (fact && fleet) await bringIfAllowed(home, fleet, fact)
      return fact
    },
    tasks: { ...tasks, begin: (task, loop, record) => tasks.begin(task, sealLoop(home, loop), record) },
    panes: {
      ...panes,
      post: (pane, mail) => panes.post(pane, sealMail(home, mail)),
      begin: (task, loop, pane, record) => panes.begin(task, sealLoop(home, loop), pane, record),
    },
    board: {
      ...board,
      create: (task) => board.create(sealTask(home, task)),
      save: (task, mustHold) => board.save(sealTask(home, task), mustHold),
      begin: (task, loop, tellings) => board.begin(sealTask(home, task), sealLoop(home, loop), told(tellings)),
    },
    comments: { ...comments, add: (loop, added, tells) => comments.add(loop, sealIn(home, added), tells) },
    reports: { ...reports, add: (hash, report) => reports.add(hash, maskIn(report)) },
    ...(fleet ? { fleet: sealingFleet(home, fleet) } : {}),
  }
}

/** An order may come from another machine. A process that may not read secrets runs no agent, and needs none. */
async function bringIfAllowed(home: string, fleet: FleetRecords, given: unknown): Promise<void> {
  try {
    await bringSecrets(home, fleet, given)
  } catch (cause) {
    if (!isRalphError(cause) || cause.code !== 'database-refused') throw cause
  }
}

function sealingFleet(home: string, fleet: FleetRecords): FleetRecords {
  return {
    ...fleet,
    async submit(tasks) {
      const sealed = tasks.map(({ task, loop, asked }) => ({
        task: { ...task, ...sealIn(home, { title: task.title, agents: task.agents }) },
        loop: sealLoop(home, loop),
        asked: sealIn(home, asked),
      }))
      await shareSecrets(home, fleet, sealed)
      await fleet.submit(sealed)
    },
    async again(id, again) {
      const sealed = { loop: sealLoop(home, again.loop), first: sealTellings(home, again.first ?? []) }
      await shareSecrets(home, fleet, sealed)
      return fleet.again(id, { ...again, ...sealed })
    },
  }
}

function sealTellings(home: string, tellings: readonly Telling[]): Telling[] {
  return tellings.map((telling) => ('order' in telling ? { ...telling, order: sealIn(home, telling.order) } : telling))
}

function sealTask(home: string, task: BoardTask): BoardTask {
  const { title, description, checks, stages, agent } = task
  return { ...task, ...sealIn(home, { title, description, checks, stages, agent }) }
}

/** What people type into a pane, or leave for it, is sealed; what its client reports is masked. */
export function sealMail(home: string, mail: Mail): Mail {
  const isPerson = mail.kind === 'prompt' || mail.kind === 'task'
  return isPerson ? sealIn(home, mail) : mail.kind === 'stop' || mail.kind === 'asks' ? maskIn(mail) : mail
}
