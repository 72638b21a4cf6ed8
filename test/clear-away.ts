/** Cleans up after each test file that shares a process: its folders and programs are removed, as if it had its own. */
import { afterAll } from 'vitest'
import { removeModels } from '../src/host/model-folder.test-support.ts'
import { clearAway } from '../src/host/place.test-support.ts'

afterAll(() => {
  clearAway()
  removeModels()
})
