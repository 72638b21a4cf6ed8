import { expect, test } from 'vitest'
import { buildVaultPrompt, type VaultWords } from './vault-prompt.ts'

const words = { from: 'Needs_Action/a.md', done: 'Done/a.md', pending: 'Pending_Approval/a.md' }

test('says what is to be done, and where the file goes', () => {
  expect(buildVaultPrompt({ ...words, body: '\nDo it.\n' })).toBe(`Your task is the file \`Needs_Action/a.md\`. It says:

Do it.

When all of it is done, and not before, move that file to \`Done/a.md\`: that is how you say that you are done, and nothing else counts.
If it lies there already, since a check has failed, it may stay there.
If a person must approve something first, write what into the file and move it to \`Pending_Approval/a.md\`; it comes back when they have.
Do not rename or delete the file.`)
})

test.each<[told: NonNullable<VaultWords['progress']>, says: string]>([
  [
    { by: 'command', line: 'ralph task progress a --total N' },
    'Tell how far you are after each step, where that program can be run: `ralph task progress a --total N`.',
  ],
  [{ by: 'boxes' }, 'Tick the check boxes of the file as you go: they tell how far you are.'],
])('asks how far the work has come: %o', (progress, says) => {
  const plain = buildVaultPrompt({ ...words, body: 'Do it.' })
  expect(buildVaultPrompt({ ...words, body: 'Do it.', progress })).toBe(`${plain}\n${says}`)
})

test('of a long text it has the beginning, and says so', () => {
  const prompt = buildVaultPrompt({ ...words, body: 'x'.repeat(60_000) })
  expect(prompt).toMatch(/x{50000}\n…\n\nThis is only its beginning: read the whole file\./)
})
