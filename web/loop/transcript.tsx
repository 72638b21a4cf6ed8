/** The transcript of an iteration, of any size: read in portions, rendering only the lines in view. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { go, route, withQuery } from '../data/route.ts'
import { isRecorded } from '../data/source.ts'
import { Problem } from '../parts/common.tsx'
import { openPortions, type Portions } from './portions.ts'

const LINE = 19
const BEYOND = 12

export function TranscriptTab({ loop, n }: { loop: string; n: number }) {
  const isRaw = route.value.query.raw === '1'
  const box = useRef<HTMLDivElement>(null)
  const [columns, setColumns] = useState(0)
  const [drawn, draw] = useState(0)
  const portions = useMemo(
    () =>
      columns
        ? openPortions({ loop, iteration: n, raw: isRaw, columns, changed: () => draw((at) => at + 1) })
        : undefined,
    [loop, n, isRaw, columns],
  )
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setColumns(Math.max(20, Math.floor((element.clientWidth - 78) / widthOfLetter(element))))
    measure()
    const sizes = new ResizeObserver(measure)
    sizes.observe(element)
    return () => sizes.disconnect()
  }, [])
  useEffect(() => portions?.close, [portions])
  return (
    <div class="transcript">
      <p class="row">
        <span class="grow muted">{portions ? portions.words() : ''}</span>
        {!isRecorded() && (
          <button
            type="button"
            class="button quiet"
            aria-pressed={isRaw}
            onClick={() => go(withQuery({ raw: isRaw ? undefined : '1' }), { replace: true })}
          >
            {isRaw ? 'Readable' : 'Raw output'}
          </button>
        )}
        <button type="button" class="button quiet" onClick={() => box.current?.scrollTo({ top: 0 })}>
          Top
        </button>
        <button type="button" class="button quiet" onClick={() => box.current?.scrollTo({ top: 1e9 })}>
          End
        </button>
      </p>
      {portions?.error() && <Problem error={portions.error() as Error} retry={portions.retry} />}
      <div class="log" ref={box} tabIndex={0} role="log" aria-live="off" aria-label="Transcript">
        {portions && <Lines box={box} portions={portions} drawn={drawn} />}
      </div>
    </div>
  )
}

/** `drawn`: changes when there is more to show, which forces a render. */
function Lines({ box, portions }: { box: { current: HTMLDivElement | null }; portions: Portions; drawn: number }) {
  const [view, setView] = useState({ top: 0, height: 600 })
  const follows = useRef(false)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => {
      setView({ top: element.scrollTop, height: element.clientHeight })
      follows.current = element.scrollTop + element.clientHeight >= element.scrollHeight - 2 * LINE
    }
    look()
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [])
  const total = portions.total()
  const from = Math.max(0, Math.floor(view.top / LINE) - BEYOND)
  const to = Math.min(total, Math.ceil((view.top + view.height) / LINE) + BEYOND)
  const { lines, shift } = portions.lines(from, to)
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    // The estimate above turned out longer or shorter: keep the visible lines in place.
    if (shift) element.scrollTop += shift * LINE
    else if (follows.current && portions.isLive()) element.scrollTop = element.scrollHeight
  })
  return (
    <div style={{ height: `${total * LINE}px` }}>
      <div style={{ transform: `translateY(${from * LINE}px)` }}>
        {lines.map(({ key, kind, name, text, head }) => (
          <div key={key} class={`log-line ${kind}`}>
            <span class="log-kind">{head ? (name ?? KINDS[kind] ?? '') : ''}</span>
            <span class="log-text" dir="auto">
              {text || ' '}
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  prompt: 'start',
  note: 'note',
  err: 'stderr',
  exit: 'end',
  text: 'says',
  tool: 'tool',
  out: '',
}

function widthOfLetter(element: HTMLElement): number {
  const probe = document.createElement('span')
  probe.className = 'log-text'
  probe.textContent = 'x'.repeat(100)
  probe.style.position = 'absolute'
  probe.style.visibility = 'hidden'
  element.append(probe)
  const width = probe.getBoundingClientRect().width / 100
  probe.remove()
  return width || 8
}
