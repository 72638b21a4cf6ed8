/**
 * Agents that a repository brings along: one counts only after a person agreed to that very text. Recorded as files in
 * ralph's own folder.
 */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { makePrivateFolder, readIfThere, writeWhole } from './files.ts'

/** The file for one text at one path. */
export function agentMark(path: string, text: string): string {
  return hash('sha256', `${path}\0${text}`)
}

export function isTrustedAgent(home: string, path: string, text: string): boolean {
  return readIfThere(fileOf(home, path, text)) !== undefined
}

export function trustAgent(home: string, path: string, text: string): void {
  makePrivateFolder(join(home, 'trusted-agents'))
  writeWhole(fileOf(home, path, text), `${path}\n`)
}

function fileOf(home: string, path: string, text: string): string {
  return join(home, 'trusted-agents', agentMark(path, text))
}
