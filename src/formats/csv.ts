/** Tables as comma-separated values, for spreadsheets. */

export type Cell = string | number | undefined

/** The first row contains the column names. */
export function printCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(printCell).join(',')}\n`).join('')
}

function printCell(cell: Cell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell)
  const text = harmless(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A spreadsheet would run text that starts like this as a formula. */
function harmless(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}
