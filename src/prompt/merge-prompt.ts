/** The prompt for an agent that resolves a merge conflict. */

export type Sides = {
  task: { id: string; title: string; branch: string }
  branch: string
  /** What arrived on the branch in the meantime, one line per commit. */
  others: readonly string[]
  files: readonly string[]
}

export function buildMergePrompt({ task, branch, others, files }: Sides): string {
  return `Resolve a merge conflict. The working directory is in the middle of a git merge.

- One side is ${task.id}: ${task.title} (branch ${task.branch}; \`git diff HEAD...MERGE_HEAD\` shows it).
- The other side is ${branch}, which has received these commits in the meantime:
${others.map((line) => `  - ${line}`).join('\n')}
  (\`git diff MERGE_HEAD...HEAD\` shows it.)

Both changed ${files.map((file) => `\`${file}\``).join(', ')}.

1. Read both sides until you understand the purpose of each. \`git log --merge -p\` helps.
2. Edit the files so that they contain the work of both sides and it works together. Do not drop either side: do not take one
   version wholesale, and do not abort the merge.
3. Remove every conflict marker, run the tests, \`git add\` the files and finish with \`git commit --no-edit\`.

Do nothing else: no other task, no new branch, no rebase.
`
}
