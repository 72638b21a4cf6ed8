/** One loop that needs a person: a line to look at, which opens to answer it. */
import { useEffect, useRef } from 'preact/hooks'
import { type Badge, stopBadge } from '../badge.ts'
import { BadgeView } from '../parts/common.tsx'
import { agentName, ago, capital, count, folderName } from '../words.ts'
import { type Need, NeedBody } from './body.tsx'

const BADGES: Readonly<Record<Need['kind'], Badge>> = {
  question: { word: 'Question', tone: 'amber', mark: '?' },
  permission: { word: 'Permission', tone: 'amber', mark: '?' },
  allow: { word: 'Allow tests?', tone: 'amber', mark: '≠' },
  approval: { word: 'Approval', tone: 'amber', mark: '?' },
  conflict: { word: 'Conflict', tone: 'red', mark: '!' },
  stuck: { word: 'Stopped', tone: 'red', mark: '■' },
  review: { word: 'Ready to accept', tone: 'teal', mark: '✓' },
  unattended: { word: 'Not running', tone: 'red', mark: '!' },
}

export function NeedRow({ need, isOpen, toggle }: { need: Need; isOpen: boolean; toggle: () => void }) {
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isOpen) box.current?.scrollIntoView({ block: 'nearest' })
  }, [isOpen])
  const { title, sentence, question, dir, agent, iteration, since, unread } = need
  return (
    <article ref={box} class={`card need${unread ? ' unread' : ''}${isOpen ? ' open' : ''}`}>
      <h3>
        <button type="button" class="need-head" aria-expanded={isOpen} onClick={toggle} data-loop={need.loop}>
          <i class="dot" aria-hidden="true" />
          <span class="title">
            {unread && <span class="visually-hidden">Unread: </span>}
            {title}
          </span>
          <BadgeView badge={badgeFor(need)} />
          <small class="where">
            {folderName(dir)} · {agentName(agent)} · {count(iteration, 'iteration')} · {ago(since)}
          </small>
          {!isOpen && <span class="short">{question ?? capital(sentence)}</span>}
        </button>
      </h3>
      {isOpen && <NeedBody need={need} focus={matchMedia('(pointer: fine)').matches} dismiss={toggle} />}
    </article>
  )
}

function badgeFor({ kind, reason }: Need): Badge {
  return kind === 'stuck' && reason ? stopBadge(reason) : BADGES[kind]
}
