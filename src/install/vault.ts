/** The Stop hook of a vault: keeps Claude Code working there until its task file is done. */
import { join } from 'node:path'
import { quoteWord } from '../formats/command-line.ts'
import type { Place } from './agents.ts'
import { fileOf, STOP_SECONDS, VAULT_COMMAND } from './pieces.ts'

/** Folders of the vault, relative to it. */
export type VaultFolders = { state: string; done: string }

export function vaultPlace({ state, done }: VaultFolders): Place {
  return {
    title: 'Claude Code',
    programs: ['claude'],
    folder: ({ project }) => join(project, '.claude'),
    wanted: ({ home, plugin }, folder) => [
      {
        kind: 'settings',
        path: join(folder, 'settings.local.json'),
        entries: [
          {
            at: ['hooks', 'Stop'],
            item: { hooks: [{ type: 'command', command: VAULT_COMMAND, timeout: STOP_SECONDS }] },
          },
        ],
      },
      {
        kind: 'own',
        path: scriptIn(folder),
        text: withValues(fileOf(plugin('vault'), 'stop.sh'), { home, state, finished: done }),
        program: true,
      },
    ],
    afterwards: () => [
      'Open sessions do not have it yet: start a new one.',
      'Then, in the vault: RALPH_TASK_ID=TASK claude "Work on TASK", or let a session start one: ralph task start FILE',
    ],
  }
}

export function scriptIn(folder: string): string {
  return join(folder, 'hooks', 'stop.sh')
}

/** Whether the script of that name belongs to ralph. */
export function isOwnScript(text: string): boolean {
  return text.startsWith('#!/bin/sh\n# ralph: ')
}

/** The script sets each of these once, at the start of a line. */
function withValues(script: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, 'm'), () => `${name}=${quoteWord(value)}`),
    script,
  )
}
