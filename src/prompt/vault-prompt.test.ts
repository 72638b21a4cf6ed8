import { expect, test } from 'vitest'
import { buildVaultPrompt, type VaultWords } from './vault-prompt.ts'

const words = { from: 'Needs_Action/a.md', done: 'Done/a.md', pending: 'Pending_Approval/a.md' }

test('says what to do, and where the file goes', () => {
  expect(buildVaultPrompt({ ...words, body: '\nDo it.\n' })).toBe(`Your task is the file \`Needs_Action/a.md\`. It says:

Do it.

When everything in it is done, and not before, move that file to \`Done/a.md\`: nothing else counts as done.
If the file is already there, because its checks failed after you moved it, leave it there.
If a person must approve something first, describe it in the file and move the file to \`Pending_Approval/a.md\`; it comes back once approved.
Do not rename or delete the file.`)
})

test.each<[told: NonNullable<VaultWords['progress']>, says: string]>([
  [
    { by: 'command', line: 'ralph task progress a --total N' },
    'After each step, report your progress if you can run this program: `ralph task progress a --total N`.',
  ],
  [{ by: 'boxes' }, 'Tick the checkboxes in the file as you go: they show your progress.'],
])('asks for progress: %o', (progress, says) => {
  const plain = buildVaultPrompt({ ...words, body: 'Do it.' })
  expect(buildVaultPrompt({ ...words, body: 'Do it.', progress })).toBe(`${plain}\n${says}`)
})

test('a long text is cut, and it says so', () => {
  const prompt = buildVaultPrompt({ ...words, body: 'x'.repeat(60_000) })
  expect(prompt).toMatch(/x{50000}\n…\n\nThis is only the beginning: read the whole file\./)
})
