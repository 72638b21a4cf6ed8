/** What every store has to do, one file per property. SQLite runs this suite, and so does every other store. */
import { answerRecords } from './answer-records.ts'
import { boardRecords } from './board-records.ts'
import { commentRecords } from './comment-records.ts'
import { createAndFind } from './create-and-find.ts'
import { events } from './events.ts'
import { iterations } from './iterations.ts'
import { leaseAndTakeover } from './lease-and-takeover.ts'
import { oddText } from './odd-text.ts'
import { orders } from './orders.ts'
import { overview } from './overview.ts'
import { pagingAndFilters } from './paging-and-filters.ts'
import { paneRecords } from './pane-records.ts'
import { projectRecords } from './project-records.ts'
import { reportRecords } from './report-records.ts'
import { saveAndFencing } from './save-and-fencing.ts'
import { openScene, type StoreKind } from './scene.ts'
import { seenRecords } from './seen-records.ts'
import { strips } from './strips.ts'
import { sums } from './sums.ts'
import { taskRecords } from './task-records.ts'

export function storeContract(kind: StoreKind): void {
  const scene = openScene(kind)
  createAndFind(scene)
  leaseAndTakeover(scene)
  saveAndFencing(scene)
  iterations(scene)
  strips(scene)
  orders(scene)
  events(scene)
  pagingAndFilters(scene)
  sums(scene)
  overview(scene)
  oddText(scene)
  projectRecords(scene)
  taskRecords(scene)
  paneRecords(scene)
  boardRecords(scene)
  commentRecords(scene)
  answerRecords(scene)
  reportRecords(scene)
  seenRecords(scene)
}
