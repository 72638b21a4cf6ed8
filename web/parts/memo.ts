/** A component that renders again only when one of its props changes: for rows of long lists. */
import type { Component, ComponentChildren, FunctionComponent } from 'preact'

export function memo<Props extends object>(view: (props: Props) => ComponentChildren): FunctionComponent<Props> {
  function Memo(this: Component<Props>, props: Props) {
    this.shouldComponentUpdate = (next) => differ(this.props, next)
    return view(props)
  }
  return Memo as unknown as FunctionComponent<Props> // Preact calls it with the component as `this`
}

function differ<Props extends object>(some: Props, others: Props): boolean {
  const names = Object.keys({ ...some, ...others }) as (keyof Props)[]
  return names.some((name) => some[name] !== others[name])
}
