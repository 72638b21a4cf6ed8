/** A list of any length that renders only the rows in view. All rows have the same height. */
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const BEYOND = 8

export function Virtual({
  count,
  rowHeight,
  children,
  nearEnd,
  label,
  focus,
  focusOn = focus,
}: {
  count: number
  rowHeight: number
  children: (at: number) => ComponentChildren
  /** Called when the end comes into view. */
  nearEnd?: (() => void) | undefined
  label: string
  /** Scrolled into view when `focusOn`, or this row, changes. */
  focus?: number | undefined
  focusOn?: unknown
}) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 800 })
  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const look = () => setView({ top: element.scrollTop, height: element.clientHeight })
    look()
    element.addEventListener('scroll', look, { passive: true })
    const sizes = new ResizeObserver(look)
    sizes.observe(element)
    return () => {
      element.removeEventListener('scroll', look)
      sizes.disconnect()
    }
  }, [])
  const from = Math.max(0, Math.floor(view.top / rowHeight) - BEYOND)
  const to = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + BEYOND)
  useEffect(() => {
    if (to >= count - BEYOND) nearEnd?.()
  }, [to, count])
  useEffect(() => {
    const element = box.current
    if (!element || focus === undefined || focus < 0) return
    const top = focus * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = top + rowHeight - element.clientHeight
  }, [focusOn])
  return (
    <section class="virtual" ref={box} aria-label={label} tabIndex={0}>
      <div style={{ height: `${count * rowHeight}px` }}>
        <div style={{ transform: `translateY(${from * rowHeight}px)` }}>
          {Array.from({ length: Math.max(0, to - from) }, (_, at) => children(from + at))}
        </div>
      </div>
    </section>
  )
}
