/** A rarely used screen is loaded when it is opened, so that nobody else has to wait for it. */
import { type Signal, signal } from '@preact/signals'
import type { FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { Loading, Problem } from './common.tsx'

type Loaded<Props> = { View?: FunctionComponent<Props>; error?: Error }

/** `load` is called once; its result is kept. */
export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  const loaded: Signal<Loaded<Props>> = signal({})
  let isAsked = false
  const ask = () =>
    void load().then(
      (View) => {
        loaded.value = { View }
      },
      () => {
        loaded.value = { error: new Error('This screen cannot be loaded. Was the server updated, or has it stopped?') }
      },
    )
  return (props) => {
    useEffect(() => {
      if (!isAsked) ask()
      isAsked = true
    }, [])
    const { View, error } = loaded.value
    if (View) return <View {...props} />
    return (
      <div class="screen">
        {error ? <Problem error={error} retry={() => location.reload()} /> : <Loading lines={6} />}
      </div>
    )
  }
}
