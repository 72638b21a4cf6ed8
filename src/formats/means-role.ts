/** Whether a file that a check runs is the work or a means of proof. */
import type { Where } from './means-follow.ts'

/** `unclear`: it may be either, so it neither refuses a claim nor proves one. */
type Ran = 'means' | 'work' | 'unclear'

const CHECKING =
  /(^|[^a-z])(tests?|checks?|checker|verif\w*|lint\w*|specs?|assert\w*|ci|validat\w*|e2e|smoke|ensure|expect\w*|gate|qa|runner|suite|compar\w*|diff|grade\w*|judge|scor(e|er|ing)|eval\w*|bench\w*)([^a-z]|$)/i
const TOOL_FOLDER =
  /(^|\/)(scripts?|tools?|tooling|ci|\.ci|hack|checks?|dev|\.github|\.husky|harness|judge|grad(er|ing)|verif\w*|validat\w*)\//i
const PRODUCT_FOLDER = /(^|\/)(src|lib|app|dist|build|pkg|cmd)\//i
const PRODUCT_NAME = /(^|\/)(main|app|index|server|cli|program|solution|__main__)\.\w+$/i
/** Where such a name belongs to the product: at the top, in a Python package, in a part of a larger product. */
const PRODUCT_PLACE =
  /^[^/]+$|\/__main__\.\w+$|(^|\/)(bin|apps|packages|services?|server|client|backend|frontend|api|web|core|cli)\//i
/** Folders with both work and means of proof. */
const EITHER = /^(bin|examples?|demos?|samples?)\//i
const OF_SHELL = /\.(ba|z|k)?sh$|(^|\/)[^/.]+$/

/** A program whose output a check inspects is the work. */
export function roleOf(whole: string, { cwd, depth, captured }: Where): Ran {
  const path = cwd && whole.startsWith(`${cwd}/`) ? whole.slice(cwd.length + 1) : whole
  if (CHECKING.test(path.slice(path.lastIndexOf('/') + 1))) return 'means'
  if (captured) return 'work'
  if (TOOL_FOLDER.test(path)) return 'means'
  if (isProduct(path)) return 'work'
  if (PRODUCT_NAME.test(path)) return 'unclear'
  return depth > 0 && (EITHER.test(path) || !OF_SHELL.test(path)) ? 'unclear' : 'means'
}

/** By its place and its name alone. */
export function isProduct(path: string): boolean {
  return PRODUCT_FOLDER.test(path) || (PRODUCT_NAME.test(path) && PRODUCT_PLACE.test(path))
}

/** Its name or its folder says that it checks something. */
export function saysCheck(path: string): boolean {
  return CHECKING.test(path.slice(path.lastIndexOf('/') + 1)) || TOOL_FOLDER.test(path)
}
