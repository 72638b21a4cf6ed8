/** Whether there is no process of that number, as far as one can tell. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'ESRCH'
  }
}
