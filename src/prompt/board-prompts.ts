/** Prompts that users pick from their agent's menu: to plan tasks, review a loop, or learn why one stopped. */

export type BoardPrompt = {
  name: string
  title: string
  description: string
  argument: { name: string; description: string }
  /** `given`: what the user typed for the argument. */
  words(given: string): string
}

export const BOARD_PROMPTS: readonly BoardPrompt[] = [
  {
    name: 'plan_tasks',
    title: 'Plan tasks',
    description: 'Break a goal down into tasks that can be proven done.',
    argument: { name: 'goal', description: 'What should be true in the end.' },
    words: (goal) => `Break this goal down into tasks for ralph:

${goal}

1. Call get_context, and look at the code that the goal is about.
2. Split the goal into tasks that one agent can finish within a few iterations. Each needs a title, a description with everything \
that an agent outside this conversation must know, and \`checks\`: commands that fail now and pass once the task is done. \
Where no such check exists, let the first task write one.
3. Show me the list with its checks and dependencies, and wait for my approval.
4. Then call create_task for each of them, and add_dependency where one needs another. Start nothing before I say so.`,
  },
  {
    name: 'review_loop',
    title: 'Review a loop',
    description: 'Review the work of a loop before it is accepted.',
    argument: { name: 'loop', description: 'The id of the loop.' },
    words: (loop) => `Review the work of loop ${loop}.

1. Call get_loop, and get_diff with against: "start" for its last iteration.
2. Judge whether the change does what the prompt asks for, whether its tests would fail without it, and what it breaks or leaves open. \
Look closely at changed or deleted tests and at everything under \`findings\`.
3. Tell me your verdict first, then the problems, the worst first, with file and line.
4. Do not call accept_loop, rollback_loop or steer_loop before I have answered.`,
  },
  {
    name: 'why_did_it_stop',
    title: 'Why did it stop?',
    description: 'Explain why a loop stopped, and what to do next.',
    argument: { name: 'loop', description: 'The id of the loop.' },
    words: (loop) => `Find out why loop ${loop} stopped.

1. Call get_loop, then list_iterations, then get_iteration for the last ones.
2. Explain in a few sentences why it stopped: what it tried, what the checks said each time, and where it got stuck.
3. Say what to do next: answer it (steer_loop), change the task or its checks, give it more iterations, try another agent, roll back, \
or give up. Recommend one of them and say why.`,
  },
]
