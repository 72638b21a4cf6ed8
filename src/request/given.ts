/** Drops undefined values: an option that was not given is absent, not undefined. */

export function given<Value extends object>(value: Value): Given<Value> {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries) as Given<Value> // it has exactly those fields
}

export type Given<Value> = {
  [Key in keyof Value as undefined extends Value[Key] ? never : Key]: Value[Key]
} & {
  [Key in keyof Value as undefined extends Value[Key] ? Key : never]?: Exclude<Value[Key], undefined>
}
