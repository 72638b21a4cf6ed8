/** The diff of an iteration; a comment on a line goes to the agent. */
import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { Finding, Loop } from '../../src/engine/loop.ts'
import { ofLoop, refreshAll, useQuery } from '../data/query.ts'
import { go, route, withQuery } from '../data/route.ts'
import { call, isRecorded, type OutputOf, once } from '../data/source.ts'
import { Button, Loading, Problem } from '../parts/common.tsx'
import { toast } from '../parts/toast.tsx'
import { count } from '../words.ts'

type Diff = OutputOf<'get_diff'>
type DiffFile = Diff['files'][number]
type DiffLine = DiffFile['hunks'][number]['lines'][number]
type Comment = OutputOf<'list_comments'>['comments'][number]

/** The line being commented on, as `path side number`. */
const writing = signal('')

const LONG = 400

type Asked = { loop: Loop; n: number; findings: readonly Finding[]; under: boolean }

export function DiffTab({ loop, n, findings, under }: Asked) {
  const against = route.value.query.against === 'start' ? 'start' : 'previous'
  const { value, error, refresh } = useQuery('get_diff', under ? undefined : { loop: loop.id, iteration: n, against })
  const comments = useQuery('list_comments', { loop: loop.id }, ofLoop(loop.id)).value?.comments ?? []
  if (under) return <p class="muted body">The diff appears when this iteration ends.</p>
  if (error && !value) return <Problem error={error} retry={refresh} />
  if (!value) return <Loading />
  const here = comments.filter((one) => one.loop === value.loop && one.iteration === n && one.against === against)
  return (
    <div class="diff">
      <p class="row">
        <span class="grow muted">
          {count(value.files.length, 'file')} changed{value.note ? `. ${value.note}` : ''}
        </span>
        <button
          type="button"
          class="button quiet"
          aria-pressed={against === 'start'}
          onClick={() => go(withQuery({ against: against === 'start' ? undefined : 'start' }), { replace: true })}
        >
          {against === 'start' ? 'Only this iteration' : 'Since the start of the loop'}
        </button>
      </p>
      {value.files.length === 0 && <p class="muted">Nothing changed.</p>}
      {value.files.map((file) => (
        <FileView
          key={file.path}
          file={file}
          findings={findings.filter(({ path }) => path === file.path)}
          comments={here.filter(({ path }) => path === file.path || path === file.from)}
          about={{ loop: value.loop, iteration: n, against }}
        />
      ))}
    </div>
  )
}

type About = { loop: string; iteration: number; against: 'previous' | 'start' }
type Shown = { file: DiffFile; findings: readonly Finding[]; comments: readonly Comment[]; about: About }

function FileView({ file, findings, comments, about }: Shown) {
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  const [isOpen, setOpen] = useState(lines <= LONG || comments.length > 0)
  return (
    <details class="file" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <code class="grow">{file.from ? `${file.from} → ${file.path}` : file.path}</code>
        {findings.map(({ kind, words }) => (
          <span key={kind} class="finding" title={words}>
            ◆ {kind.replaceAll('-', ' ')}
          </span>
        ))}
        <span class="muted">{file.change === 'changed' ? '' : file.change}</span>
        <span class="good">+{file.added}</span> <span class="bad">−{file.removed}</span>
      </summary>
      {isOpen && (
        <div class="hunks" tabIndex={0} role="group" aria-label={`Changes in ${file.path}`}>
          {file.binary && <p class="muted">Binary file.</p>}
          {file.hunks.map((hunk) => (
            <div key={`${hunk.oldStart}-${hunk.newStart}`}>
              <p class="hunk-head">
                @@ {hunk.oldStart} → {hunk.newStart} {hunk.heading}
              </p>
              {hunk.lines.map((line) => (
                <Line
                  key={`${line.kind}${line.old}-${line.new}`}
                  line={line}
                  file={file}
                  comments={comments}
                  about={about}
                />
              ))}
            </div>
          ))}
        </div>
      )}
    </details>
  )
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const

function Line({
  line,
  file,
  comments,
  about,
}: {
  line: DiffLine
  file: DiffFile
  comments: readonly Comment[]
  about: About
}) {
  const side = line.kind === 'removed' ? 'old' : 'new'
  const number = line[side] ?? 0
  const key = `${file.path} ${side} ${number}`
  const here = comments.filter((one) => one.side === side && one.line === number)
  const label = `Comment on line ${number} of ${file.path}${side === 'old' ? ' (before)' : ''}`
  return (
    <>
      <div class={`line-row ${line.kind}`}>
        {isRecorded() ? (
          <span class="line-number">{number}</span>
        ) : (
          <button
            type="button"
            class="line-number"
            aria-label={label}
            title={label}
            onClick={() => {
              writing.value = writing.value === key ? '' : key
            }}
          >
            {number}
          </button>
        )}
        <span class="sign" aria-hidden="true">
          {SIGNS[line.kind]}
        </span>
        <span class="line-text" dir="auto">
          {line.kind !== 'same' && <span class="visually-hidden">{line.kind}: </span>}
          {line.text || ' '}
        </span>
      </div>
      {here.map((comment) => (
        <CommentView key={comment.id} comment={comment} />
      ))}
      {writing.value === key && <Write path={file.path} side={side} line={number} about={about} />}
    </>
  )
}

function CommentView({ comment }: { comment: Comment }) {
  const { delivered, hearer, loop } = comment
  return (
    <div class="comment">
      <p dir="auto">{comment.text}</p>
      <p class="muted">
        {delivered === null ? (
          <>◷ Sent. The next iteration of this loop, its fork or its retry will see it.</>
        ) : (
          <>
            <span class="good">✓ Delivered</span> to iteration {delivered}
            {hearer === loop ? '' : ` of ${hearer}`}.
          </>
        )}{' '}
        {delivered === null && !isRecorded() && (
          <Button
            kind="quiet"
            run={async () => {
              await call('remove_comment', { loop, comment: comment.id })
              refreshAll()
            }}
          >
            Delete
          </Button>
        )}
      </p>
    </div>
  )
}

function Write({ path, side, line, about }: { path: string; side: 'old' | 'new'; line: number; about: About }) {
  const [text, setText] = useState('')
  const close = () => {
    writing.value = ''
  }
  const send = async () => {
    if (!text.trim()) return
    const { loop, ...where } = about
    const { heard } = await call(
      'add_comments',
      { loop, comments: [{ ...where, path, side, line, text: text.trim() }] },
      once(),
    )
    toast({
      text: heard === 'later' ? 'Kept for a fork or retry of this loop.' : 'Sent: the next iteration will see it.',
    })
    close()
    refreshAll()
  }
  return (
    <div class="comment write">
      <textarea
        rows={3}
        aria-label={`Comment on line ${line} of ${path}`}
        placeholder="What should the agent do about this line?"
        value={text}
        maxLength={10_000}
        autofocus
        ref={(element) => element?.focus()}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send()
          if (event.key === 'Escape') close()
        }}
      />
      <p class="row">
        <span class="grow muted">Ctrl+Enter sends it to the agent.</span>
        <Button run={close}>Cancel</Button>
        <Button kind="primary" run={send}>
          Comment
        </Button>
      </p>
    </div>
  )
}
