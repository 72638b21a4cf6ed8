/**
 * Removes unreadable characters from other people's text: they could color, hide or reverse the text around them.
 * It happens here so that no view can forget it.
 */
import { type ComponentChildren, Fragment, options } from 'preact'
import { harmless } from './words.ts'

type Texts = { children?: ComponentChildren; title?: unknown; 'aria-label'?: unknown }

export function keepReadable(): void {
  const before = options.vnode
  options.vnode = (vnode) => {
    if (typeof vnode.type === 'string' || vnode.type === Fragment) clean(vnode.props)
    before?.(vnode)
  }
}

function clean(props: Texts): void {
  if (props.children !== undefined) props.children = readable(props.children)
  if (typeof props.title === 'string') props.title = harmless(props.title)
  if (typeof props['aria-label'] === 'string') props['aria-label'] = harmless(props['aria-label'])
}

function readable(children: ComponentChildren): ComponentChildren {
  if (typeof children === 'string') return harmless(children)
  if (!Array.isArray(children)) return children
  const read = children.map(readable)
  return read.some((child, at) => child !== children[at]) ? read : children
}
