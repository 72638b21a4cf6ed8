/** What waits for you, unread first; each item can be answered in place. */
import { useEffect, useRef } from 'preact/hooks'
import { anyLoop, refreshAll, useQuery } from '../data/query.ts'
import { go, route, withQuery } from '../data/route.ts'
import { call } from '../data/source.ts'
import type { Need } from '../needs/body.tsx'
import { NeedRow } from '../needs/row.tsx'
import { Button, Empty, Link, Loading, Problem } from '../parts/common.tsx'
import { useShortcuts } from '../parts/keys.tsx'
import { attempt } from '../parts/toast.tsx'

export function NeedsScreen() {
  const { value, error, refresh } = useQuery('list_needs', {}, anyLoop)
  const needs = useSteady(value?.needs ?? [])
  const { loop: opened } = route.value.query
  const seen = (list: readonly Need[]) => attempt(() => markSeen(list.filter(({ unread }) => unread)))
  const fresh = needs.find(({ loop, unread }) => loop === opened && unread)
  useEffect(() => void (fresh && seen([fresh])), [fresh?.loop, fresh?.n])
  const isGone = value && opened && !needs.some(({ loop }) => loop === opened)
  useEffect(() => {
    if (isGone) go(withQuery({ loop: undefined }), { replace: true }) // its next need counts as unread again
  }, [isGone])
  const toggle = (loop: string) => go(withQuery({ loop: loop === opened ? undefined : loop }), { replace: true })
  useShortcuts([
    { keys: 'j', words: 'Next one', run: () => step(1) },
    { keys: 'k', words: 'Previous one', run: () => step(-1) },
    { keys: '↵', words: 'Open and answer', run: () => {} },
    { keys: 'r', words: 'Mark as read', run: () => void seen(needs.filter(({ loop }) => loop === focused())) },
    { keys: 'R', words: 'Mark all as read', run: () => void seen(needs) },
  ])
  return (
    <div class="screen needs">
      <header class="screen-head">
        <h1>Needs you</h1>
        {needs.some(({ unread }) => unread) && <Button run={() => seen(needs)}>Mark all as read</Button>}
      </header>
      {error && <Problem error={error} retry={refresh} />}
      {!value && !error && <Loading lines={4} />}
      {value && needs.length === 0 && <Nothing />}
      {[true, false].map((isNew) => {
        const group = needs.filter((need) => need.isNew === isNew)
        return (
          group.length > 0 && (
            <section key={String(isNew)} aria-label={isNew ? 'New' : 'Seen before'}>
              <h2>{isNew ? 'New' : 'Seen before'}</h2>
              {group.map((need) => (
                <NeedRow key={need.loop} need={need} isOpen={need.loop === opened} toggle={() => toggle(need.loop)} />
              ))}
            </section>
          )
        )
      })}
    </div>
  )
}

/** A row keeps its place when it is read: `isNew` says whether it was unread when first shown. */
function useSteady(needs: readonly Need[]): (Need & { isNew: boolean })[] {
  const first = useRef(new Map<string, boolean>()).current
  const rows = needs.map((need) => {
    const key = `${need.loop} ${need.n}`
    if (!first.has(key)) first.set(key, need.unread)
    return { ...need, isNew: first.get(key) ?? false }
  })
  return rows.sort((one, other) => other.since - one.since)
}

async function markSeen(needs: readonly Need[]): Promise<void> {
  await Promise.all(needs.map(({ loop, n }) => call('mark_seen', { loop, n })))
  if (needs.length > 0) refreshAll()
}

function focused(): string | undefined {
  return document.activeElement?.closest('.need')?.querySelector<HTMLElement>('[data-loop]')?.dataset.loop
}

function step(by: number): void {
  const heads = [...document.querySelectorAll<HTMLElement>('.need-head')]
  const at = heads.findIndex(({ dataset }) => dataset.loop === focused())
  heads[at < 0 ? 0 : Math.max(0, Math.min(at + by, heads.length - 1))]?.focus()
}

function Nothing() {
  return (
    <Empty title="Nothing needs you">
      <p>Loops appear here when they cannot, or should not, continue without you:</p>
      <ul class="bullets">
        <li>an agent asks a question, or for a permission</li>
        <li>the checks pass only because tests were changed, and you decide whether to allow that</li>
        <li>work in a worktree is done and waits to be accepted</li>
        <li>a loop stopped short, or its process died</li>
      </ul>
      <p>
        To be notified while you are elsewhere, turn on notifications in <Link to="/settings">Settings</Link>.
      </p>
    </Empty>
  )
}
