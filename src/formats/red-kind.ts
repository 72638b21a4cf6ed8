/** Why a check is red: an assertion failed, or the tests could not even be loaded. */
import { withoutColors } from './test-count.ts'

/** Whatever else it prints, one failed assertion is evidence about behavior. */
const ASSERTED =
  /\bAssertion(Failed)?Error\b|ERR_ASSERTION|\bassertion (failed|`)|\bexpect\(received\)|^\s*(Expected|Received)\b.*:|^E {2,}assert |^FAIL: |^\s*--- FAIL: |^\s*[-+] (expected|actual)\b|\bexpected\b.*\b(got|but was|to (be|equal|have|match|contain)|received)\b|Failed asserting|Expectation(NotMet|Failed)|^# +expected: |Difference \(- actual, \+ expected\)|Failures: [1-9]|panicked at .*assert/im

const NOT_LOADED =
  /\bcannot find (module|package|name|symbol|type|function|value|macro|crate|struct|trait)\b|MODULE_NOT_FOUND|ERR_UNKNOWN_FILE_EXTENSION|ERR_PACKAGE_PATH_NOT_EXPORTED|does not provide an export|has no exported member|Failed to (resolve import|load url)|\bSyntaxError\b|\bImportError\b|\bModuleNotFoundError\b|cannot import name|\bLoadError\b|cannot load such file|unresolved import|could not compile|^error\[E\d+\]|^error TS\d+|: error TS\d+|\[build failed\]|\[setup failed\]|undefined: \w|no required module provides|COMPILATION ERROR|Compilation failed|error CS\d+|No tests? (files? )?(were )?found|no tests ran|No test files found|errors? during collection|ERROR collecting|Test suite failed to run|command not found|: not found$|No such file or directory|missing script|No rule to make target|is not a (function|constructor)\b|has no attribute|\bNameError\b|\bNoMethodError\b|\bReferenceError\b|Class ".*" not found|Call to undefined/im

/** `load` only when nothing says more: a weaker proof that the work was needed. */
export function redKind(output: string): 'assertion' | 'load' {
  const text = withoutColors(output)
  return !ASSERTED.test(text) && NOT_LOADED.test(text) ? 'load' : 'assertion'
}
