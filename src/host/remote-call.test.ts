import { expect, test } from 'vitest'
import { troubleOf } from './remote-call.ts'

const COULD_NOT =
  'fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.'

test.each<[says: string, why: string]>([
  ["fatal: unable to access 'https://a.org/b/': Could not resolve host: a.org", 'Could not resolve host: a.org.'],
  [
    `ssh: connect to host a.org port 22: Connection refused\n${COULD_NOT}`,
    'ssh: connect to host a.org port 22: Connection refused.',
  ],
  ["fatal: unable to access 'https://a.org/b/': The requested URL returned error: 503", 'error: 503.'],
  ["fatal: unable to access 'https://me:pw@a.org/b/': The requested URL returned error: 429", "'https://***@a.org/b/'"],
  ['fatal: the remote end hung up unexpectedly\nfatal: early EOF', 'the remote end hung up unexpectedly.'],
  [`fatal: '/srv/a.git' does not appear to be a git repository\n${COULD_NOT}`, "'/srv/a.git' does not appear to be"],
  [
    'remote: fatal: write error: No space left on device\n ! [remote rejected] ralph/a -> ralph/a (unpacker error)',
    'write error: No space left on device.',
  ],
  ['error: x\n ! [remote rejected] ralph/a -> ralph/a (missing necessary objects)', '(missing necessary objects).'],
  [' ! [remote rejected] a -> refs/ralph/a/fence (atomic transaction failed)', '(atomic transaction failed).'],
  ['', 'git said nothing.'],
])('is worth another try: %s', (says, why) => {
  expect(troubleOf(says)).toEqual({ kind: 'unreachable', why: expect.stringContaining(why) })
})

test.each<[says: string, why: string]>([
  ["fatal: couldn't find remote ref refs/heads/nope", "couldn't find remote ref refs/heads/nope."],
  [`ERROR: Repository not found.\n${COULD_NOT}`, 'Repository not found.'],
  ["remote: Repository not found.\nfatal: repository 'https://a.org/b/' not found", 'Repository not found.'],
  ["fatal: could not read Username for 'https://a.org': terminal prompts disabled", 'could not read Username'],
  [`git@a.org: Permission denied (publickey).\n${COULD_NOT}`, 'Permission denied (publickey).'],
  ["fatal: unable to access 'https://a.org/b/': The requested URL returned error: 403", 'error: 403.'],
  [
    'warning: x\n ! [remote rejected] main -> main (protected branch hook declined)',
    '(protected branch hook declined).',
  ],
  [
    'remote: error: insufficient permission for adding an object\n ! [remote rejected] a -> a (unpacker error)',
    'insufficient permission for adding an object.',
  ],
  ["fatal: transport 'ext' not allowed", "transport 'ext' not allowed."],
])('needs somebody to change something: %s', (says, why) => {
  expect(troubleOf(says)).toEqual({ kind: 'refused', why: expect.stringContaining(why) })
})
