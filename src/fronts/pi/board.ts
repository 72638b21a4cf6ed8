/** Where the user sees the loop: the status line, the lines above the editor, notices. Without a terminal or a client, stderr. */
import { harmless } from '../../formats/harmless.ts'
import type { Context } from './host.ts'
import { joinNotices, type Notice, type Progress, progressLines, statusWords } from './words.ts'

export type Board = {
  /** The context of the latest event; an older one may belong to a session that Pi has left. */
  use(context: Context): void
  say(notices: readonly Notice[]): void
  /** Shows where the loop is, refreshed every second in a terminal; undefined clears it. */
  show(progress: (() => Progress) | undefined): void
}

const KEY = 'ralph'

export function openBoard(): Board {
  let context: Context | undefined
  let shown = ''
  let ticking: NodeJS.Timeout | undefined
  let current: (() => Progress) | undefined

  const draw = () => {
    if (!context?.hasUI) return
    const progress = current?.()
    const { ui } = context
    const status = progress && statusWords(progress)
    const lines = progress && progressLines(progress, isTerminal(context) ? ui.theme : undefined)
    // A client at the other end of a pipe gets changes only, not an update every second.
    const seen = isTerminal(context) ? lines?.join('\n') : progress && `${status}${progress.doing}${lines?.[1] ?? ''}`
    if (seen === shown) return
    shown = seen ?? ''
    ui.setStatus(KEY, status)
    ui.setWidget(KEY, lines)
  }
  const safely = (act: () => void) => {
    try {
      act()
    } catch {
      context = undefined // Pi has left this session; the next event brings another context
    }
  }

  return {
    use(latest) {
      context = latest
    },
    say(notices) {
      safely(() => {
        for (const { level, ...notice } of joinNotices(notices)) {
          const text = harmless(notice.text)
          if (context?.hasUI) context.ui.notify(text, level)
          else process.stderr.write(`${text}\n`)
        }
      })
    },
    show(progress) {
      current = progress
      if (!progress) clearInterval(ticking)
      if (!progress) ticking = undefined
      else if (context?.hasUI && isTerminal(context)) ticking ??= setInterval(() => safely(draw), 1_000).unref()
      safely(draw)
    },
  }
}

export function isTerminal({ hasUI, mode }: Context): boolean {
  return hasUI && (mode === undefined ? process.stdout.isTTY === true : mode === 'tui')
}
