/** Droid's peculiarities: hooks in two files, one hiding the other, and commands whose name hooks do not get. */
import { join } from 'node:path'
import { jsonIn } from '../formats/json-file.ts'
import { group, PROMPT_SECONDS, type Site, STOP_SECONDS, type Wanted } from './pieces.ts'

export function droidFiles(folder: string): string[] {
  return [join(folder, 'hooks.json'), join(folder, 'hooks', 'hooks.json'), join(folder, 'settings.json')]
}

/** Droid reads an event from hooks.json if that names it, otherwise from settings.json. */
export function droidHooks(site: Site, folder: string): Wanted[] {
  const [hooksFile = '', oldHooksFile = '', settings = ''] = droidFiles(folder)
  const separate = [hooksFile, oldHooksFile].find((path) => site.read(path) !== undefined)
  const names = separate === undefined ? {} : eventsOf(site.read(separate) ?? '')
  const entries: [event: string, item: object][] = [
    ['Stop', group(site, 'stop', STOP_SECONDS)],
    ['UserPromptSubmit', group(site, 'prompt', PROMPT_SECONDS)],
  ]
  const there = entries.filter(([event]) => Object.hasOwn(names, event))
  const here = entries.filter(([event]) => !Object.hasOwn(names, event))
  const wanted: Wanted[] = []
  if (separate !== undefined && there.length > 0)
    wanted.push({ kind: 'settings', path: separate, entries: there.map(([event, item]) => ({ at: [event], item })) })
  if (here.length > 0)
    wanted.push({
      kind: 'settings',
      path: settings,
      entries: here.map(([event, item]) => ({ at: ['hooks', event], item })),
    })
  return wanted
}

function eventsOf(text: string): object {
  const value = jsonIn(text) // if it is not JSON, Droid cannot read it either
  return typeof value === 'object' && value !== null ? value : {}
}

/** Its prompt hook sees only the command's text, not what was typed, so the text repeats that on its last line. */
export function droidCommand(name: string, text: string): string {
  return `${text.trimEnd()}\n\n/ralph:${name} $ARGUMENTS\n`
}
