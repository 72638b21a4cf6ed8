import { expect, test } from 'vitest'
import { findMeans } from './means.ts'

async function followed(text: string): Promise<string[]> {
  const texts: Record<string, string> = { 'chk.sh': text, 'x/a.sh': '', 'y/a.sh': '', 'z/a.sh': '' }
  const files = { paths: new Set(Object.keys(texts)), read: async (path: string) => texts[path] }
  return [...(await findMeans(files, { checks: ['./chk.sh'], dir: '', top: '/home/somebody/project' })).keys()].sort()
}

test.each([
  'for d in x y; do for f in $d/*.sh; do sh $f; done; done',
  'for d in x y; do t=$d/a.sh; sh $t; done',
  'for d in x y; do echo $d/a.sh | xargs sh; done',
  'for d in x y; do ls $d/*.sh | xargs -n1 sh; done',
  'for d in x y; do (cd $d && sh a.sh); done',
  'for d in x y; do cd $d; for f in *.sh; do sh $f; done; cd ..; done',
  'find x y -exec test -f {} \\; -exec sh {} \\;',
])('every pass of a loop counts: %s', async (text) => {
  expect(await followed(text)).toEqual(['chk.sh', 'x/a.sh', 'y/a.sh'])
})

test.each(['cd x; sh a.sh', 'd=y; d=x; sh $d/a.sh', 'cd y; cd ../x; sh a.sh'])(
  'without a loop the last value counts: %s',
  async (text) => {
    expect(await followed(text)).toEqual(['chk.sh', 'x/a.sh'])
  },
)
