/** The part of the form that says how long the agent keeps going: until the task is proven done, or for one turn. */
import { ChecksField, StagesField } from './checks.tsx'
import { type Form, Switch, Text } from './form.tsx'

export function LoopFields({ form, dir }: { form: Form; dir: string }) {
  const { use_ralph_wiggum: loops, adaptive } = form.draft
  return (
    <section class="card loop-fields">
      <Switch form={form} name="use_ralph_wiggum" label="Loop until proven">
        {loops
          ? 'Ralph Wiggum mode: the agent keeps working until the checks prove the task done. ralph does the looping, so it works with every agent.'
          : 'One turn, no loop: the agent gets the task once. Its checks still decide whether it is done.'}
      </Switch>
      <ChecksField form={form} dir={dir} />
      {loops && (
        <>
          <StagesField form={form} />
          <div class="columns">
            <Text
              form={form}
              name="ralph_max_iterations"
              label="Max iterations"
              number
              placeholder="10"
              hint="5–10 for small tasks, 15–20 for large ones; 0 means no limit"
            />
            <Text
              form={form}
              name="ralph_completion_promise"
              label="Completion promise"
              placeholder="COMPLETE"
              hint="The text in <promise>…</promise> that claims the task is done"
            />
          </div>
          <Switch form={form} name="adaptive" label="Adaptive limit">
            {adaptive
              ? 'The size is estimated from the task: S, M, L or XL starts with 6, 10, 16 or 24 iterations. The limit grows by two while failures keep falling, never above the maximum.'
              : 'Estimate the limit from the task, and raise it while failures keep falling.'}
          </Switch>
        </>
      )}
    </section>
  )
}
