/** Additions to the interview template: that nobody is available, and what was wrong the first time. */

/** `answers`: what the user wrote in advance. */
export function withAnswers(prompt: string, answers: string): string {
  return `${prompt.trimEnd()}

## Nobody is available

This runs unattended: nobody reads your questions, so do not wait for answers. The user wrote these answers in advance.
Use what applies, decide the rest sensibly, and note every such decision in the spec.

<answers>
${answers.trim()}
</answers>
`
}

/** The same round again. `problems` are sentences. */
export function withProblems(prompt: string, problems: readonly string[]): string {
  return `${prompt.trimEnd()}

## Try again

Another agent has already worked on this round, and what it wrote is still there. Read it, do not ask anything the spec already
answers, and fix these problems:

${problems.map((problem) => `- ${problem}`).join('\n')}
`
}
