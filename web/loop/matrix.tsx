/** Every check by iteration: its verdict before any work, and after each turn. */
import { useEffect, useRef } from 'preact/hooks'
import type { Iteration } from '../data/iterations.ts'
import type { Found } from './head.tsx'

const MOST = 16

type Cell = { result: string; failures?: number } | undefined

export function Matrix({
  found,
  rows,
  chosen,
}: {
  found: Found
  rows: readonly Iteration[]
  chosen: number | undefined
}) {
  const { spec, tally } = found.loop
  const shown = window(rows, chosen)
  const names = new Set([
    ...spec.checks,
    ...spec.stages.flatMap(({ check }) => (check ? [check] : [])),
    ...shown.flatMap(({ verdicts }) => verdicts.map(({ check }) => check)),
  ])
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const head = box.current?.querySelector<HTMLElement>('th.chosen')
    if (box.current && head) box.current.scrollLeft = head.offsetLeft - box.current.clientWidth / 2
  }, [chosen, shown.length])
  if (names.size === 0) return null
  const weakened = shown.some(({ findings }) => findings.length > 0)
  return (
    <div class="matrix">
      <h3>Checks by iteration</h3>
      <div class="scroll" ref={box} tabIndex={0} role="group" aria-label="Checks by iteration, scrollable">
        <table>
          <thead>
            <tr>
              <th scope="col">
                <span class="visually-hidden">Check</span>
              </th>
              <th scope="col">before</th>
              {shown.map(({ n }) => (
                <th key={n} scope="col" class={n === chosen ? 'chosen' : ''}>
                  {n}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {[...names].map((check) => (
              <tr key={check}>
                <th scope="row" title={check}>
                  {stageOf(found, check)}
                  <code>{check}</code>
                </th>
                <CellView cell={tally.before?.find((one) => one.check === check)} />
                {shown.map(({ n, verdicts }) => (
                  <CellView key={n} cell={verdicts.find((one) => one.check === check)} />
                ))}
              </tr>
            ))}
            {weakened && (
              <tr>
                <th scope="row">tests untouched</th>
                <td />
                {shown.map(({ n, findings, verdicts }) => (
                  <td key={n} title={findings.map(({ path, words }) => `${path}: ${words}`).join('\n')}>
                    {findings.length > 0 ? (
                      <span class="cell amber">
                        <span aria-hidden="true">◆</span>
                        <span class="visually-hidden">changed</span>
                      </span>
                    ) : (
                      <span class="cell">{verdicts.length > 0 ? '✓' : '·'}</span>
                    )}
                  </td>
                ))}
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** The last ones, or those around the selected one. */
function window(rows: readonly Iteration[], chosen: number | undefined): readonly Iteration[] {
  const at = rows.findIndex(({ n }) => n === chosen)
  const end = at < 0 ? rows.length : Math.min(rows.length, Math.max(MOST, at + MOST / 2))
  return rows.slice(Math.max(0, end - MOST), end)
}

function stageOf(found: Found, check: string) {
  const stage = found.loop.spec.stages.find((one) => one.check === check)
  return stage ? `${stage.name} ` : ''
}

function CellView({ cell }: { cell: Cell }) {
  if (!cell)
    return (
      <td>
        <span class="cell">
          <span aria-hidden="true">·</span>
          <span class="visually-hidden">not run</span>
        </span>
      </td>
    )
  const { tone, mark, words } = CELLS[cell.result] ?? { tone: '', mark: '?', words: cell.result }
  const number = cell.failures ? `, ${cell.failures}` : ''
  return (
    <td title={`${words}${number}`}>
      <span class={`cell ${tone}`}>
        <span aria-hidden="true">{cell.failures && cell.failures < 100 ? cell.failures : mark}</span>
        <span class="visually-hidden">{`${words}${number}`}</span>
      </span>
    </td>
  )
}

export const CELLS: Readonly<Record<string, { tone: string; mark: string; words: string }>> = {
  pass: { tone: 'green', mark: '✓', words: 'passes' },
  fail: { tone: 'red', mark: '✗', words: 'fails' },
  broken: { tone: 'amber', mark: '!', words: 'could not start' },
  timeout: { tone: 'amber', mark: '◷', words: 'timed out' },
}
