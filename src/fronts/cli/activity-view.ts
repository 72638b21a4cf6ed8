/** What an agent did in an iteration, as `ralph show LOOP N` prints it: messages, tool calls, notes. */
import type { Row } from '../../operations/activity-rows.ts'
import { getActivity } from '../../operations/get-activity.ts'
import type { Context } from './context.ts'
import { paint, short } from './text.ts'

/** `prompted`: called with the attempt number where an attempt starts. Returns whether anything was printed. */
export async function printActivity(
  context: Context,
  asked: { loop: string; iteration: number },
  prompted: (attempt: number) => void,
): Promise<boolean> {
  let attempt = 0
  let isEmpty = true
  for (let from = 0; ; ) {
    const { rows, next } = await getActivity.run(context, { ...asked, from })
    for (const row of rows) {
      isEmpty = false
      if (row.kind === 'prompt') prompted(attempt++)
      else context.out.write(rowText(context, row))
    }
    if (next <= from) return !isEmpty
    from = next
  }
}

function rowText({ out }: Context, { kind, text, name = '' }: Row): string {
  switch (kind) {
    case 'tool':
      return `${paint(out, 'cyan', '›')} ${paint(out, 'dim', short(text === '' ? name : `${name}: ${text}`, Math.max(40, out.columns - 2)))}\n`
    case 'note':
      return `${paint(out, 'yellow', '!')} ${short(text, Math.max(40, out.columns - 2))}\n`
    case 'exit':
      return `\n${paint(out, 'cyan', `── ended: ${text}`)}\n`
    default:
      return `${text.trimEnd()}\n`
  }
}
