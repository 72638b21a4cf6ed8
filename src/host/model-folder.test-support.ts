/** Folders that many tests start from: made once per test file and copied, which takes a tenth of the time. */
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const models = new Map<string, string>()

afterAll(removeModels)

/** Test files that share a process also share the models, until this is called. */
export function removeModels(): void {
  for (const model of models.values()) rmSync(model, { recursive: true, force: true, maxRetries: 5 })
  models.clear()
}

/** Fills a folder with what `make` turns an empty one into; the same name means the same content. */
export function copyModel(name: string, into: string, make: (dir: string) => void): void {
  const model = models.get(name) ?? realpathSync(mkdtempSync(join(tmpdir(), 'ralph-model-')))
  if (!models.has(name)) {
    models.set(name, model)
    make(model)
    // Most of a new repository is samples that nobody runs.
    rmSync(join(model, '.git', 'hooks'), { recursive: true, force: true })
  }
  cpSync(model, into, { recursive: true, verbatimSymlinks: true })
}
