/** After each test file of those that share a process: its folders and programs are gone, as if it had had its own. */
import { afterAll } from 'vitest'
import { removeModels } from '../src/host/model-folder.test-support.ts'
import { clearAway } from '../src/host/place.test-support.ts'

afterAll(() => {
  clearAway()
  removeModels()
})
