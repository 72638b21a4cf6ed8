/** What an interviewing agent is told besides the template: that nobody is there, and what was wrong the first time. */

/** `answers` is what the person wrote down beforehand. */
export function withAnswers(prompt: string, answers: string): string {
  return `${prompt.trimEnd()}

## Nobody is here

This runs unattended: nobody reads what you ask, so do not wait for an answer. The person wrote down these answers beforehand.
Take what fits, decide the rest in the most sensible way, and note every such decision in the spec.

<answers>
${answers.trim()}
</answers>
`
}

/** The same round once more. `problems` are sentences. */
export function withProblems(prompt: string, problems: readonly string[]): string {
  return `${prompt.trimEnd()}

## Once more

Another agent has already been at this round, and what it wrote is still there. Look at it, ask nothing that is answered in the
spec, and put right what was missing:

${problems.map((problem) => `- ${problem}`).join('\n')}
`
}
