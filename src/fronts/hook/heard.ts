/** Remembers which transcript line was the last command carried out: every stop finds it there again. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder, writeWhole } from '../../host/files.ts'
import { isSessionId } from '../../session/armed.ts'

/** A hook gets this session's prompts, so its transcript is not read for them. */
export const EVERYTHING = '*'

export function isNews(home: string, session: string, line: string): boolean {
  const path = join(home, 'heard', session)
  if (!isSessionId(session)) return false
  const heard = existsSync(path) ? readFileSync(path, 'utf8') : ''
  return heard !== line && heard !== EVERYTHING
}

export function remember(home: string, session: string, line: string): void {
  if (!isSessionId(session)) return
  makePrivateFolder(join(home, 'heard'))
  writeWhole(join(home, 'heard', session), line)
}
