/** The words of a vault's task: the text of its file, and how to tell by the file how it stands. */

/** `progress`: how its agent tells how far it is; not where it cannot. */
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
    ...(cut ? ['This is only its beginning: read the whole file.'] : []),
    [
      `When all of it is done, and not before, move that file to \`${done}\`: that is how you say that you are done, and nothing else counts.`,
      'If it lies there already, since a check has failed, it may stay there.',
      `If a person must approve something first, write what into the file and move it to \`${pending}\`; it comes back when they have.`,
      'Do not rename or delete the file.',
      ...(progress ? [progressWords(progress)] : []),
    ].join('\n'),
  ].join('\n\n')
}

function progressWords(progress: NonNullable<VaultWords['progress']>): string {
  return progress.by === 'boxes'
    ? 'Tick the check boxes of the file as you go: they tell how far you are.'
    : `Tell how far you are after each step, where that program can be run: \`${progress.line}\`.`
}
