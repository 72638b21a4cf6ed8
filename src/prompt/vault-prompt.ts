/** The prompt for a vault's task: the content of its file, and how moving the file reports its state. */

/** `progress`: how its agent reports progress; absent if it cannot. */
export type VaultWords = {
  body: string
  from: string
  done: string
  pending: string
  progress?: { by: 'command'; line: string } | { by: 'boxes' }
}

const BODY_KEPT = 50_000

export function buildVaultPrompt({ body, from, done, pending, progress }: VaultWords): string {
  const text = body.trim()
  const cut = text.length > BODY_KEPT
  return [
    ...(text ? [`Your task is the file \`${from}\`. It says:`] : [`Your task is the file \`${from}\`: read it.`]),
    ...(cut ? [`${text.slice(0, BODY_KEPT)}\n…`] : text ? [text] : []),
    ...(cut ? ['This is only the beginning: read the whole file.'] : []),
    [
      `When everything in it is done, and not before, move that file to \`${done}\`: nothing else counts as done.`,
      'If the file is already there, because its checks failed after you moved it, leave it there.',
      `If a person must approve something first, describe it in the file and move the file to \`${pending}\`; it comes back once approved.`,
      'Do not rename or delete the file.',
      ...(progress ? [progressWords(progress)] : []),
    ].join('\n'),
  ].join('\n\n')
}

function progressWords(progress: NonNullable<VaultWords['progress']>): string {
  return progress.by === 'boxes'
    ? 'Tick the checkboxes in the file as you go: they show your progress.'
    : `After each step, report your progress if you can run this program: \`${progress.line}\`.`
}
