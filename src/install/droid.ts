/** Droid's own ways: hooks in two files, of which one hides the other, and commands whose name no hook is told. */
import { join } from 'node:path'
import { jsonIn } from '../formats/json-file.ts'
import { group, PROMPT_SECONDS, type Site, STOP_SECONDS, type Wanted } from './pieces.ts'

export function droidFiles(folder: string): string[] {
  return [join(folder, 'hooks.json'), join(folder, 'hooks', 'hooks.json'), join(folder, 'settings.json')]
}

/** Droid takes an event from hooks.json alone when that names it, and from settings.json otherwise. */
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
  const value = jsonIn(text) // where it is none, Droid cannot read it either
  return typeof value === 'object' && value !== null ? value : {}
}

/** Its hook for prompts sees only the text of the command, not what was typed: so that says it, on its last line. */
export function droidCommand(name: string, text: string): string {
  return `${text.trimEnd()}\n\n/ralph:${name} $ARGUMENTS\n`
}
