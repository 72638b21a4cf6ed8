/** The numbers of a chart as a table. */

export type Table = { head: readonly string[]; rows: readonly (readonly (string | number)[])[] }

export function Numbers({ table: { head, rows } }: { table: Table }) {
  return (
    <details>
      <summary>Table</summary>
      <section class="scroll" tabIndex={0} aria-label="Table">
        <table class="numbers">
          <thead>
            <tr>
              {head.map((words) => (
                <th key={words} scope="col">
                  {words}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, ...values]) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {values.map((value, at) => (
                  <td key={head[at + 1]}>{value}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
