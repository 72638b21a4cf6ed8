import { expect, test } from 'vitest'
import { isHelper } from './means-helpers.ts'

test.each<[path: string, text: string, isOne: boolean]>([
  ['support/same.js', "import { expect } from 'vitest'\n", true],
  ['support/same.ts', "import { equal } from 'node:assert/strict'\n", true],
  ['support/same.cjs', "const assert = require('assert')\n", true],
  ['src/parse.js', "import assert from 'node:assert'\n", false],
  ['src/testing/render.tsx', "import { render } from '@testing-library/react'\n", true],
  ['support/same.js', 'export const same = (a, b) => a === b\n', true],
  ['src/support/same.js', 'export const same = (a, b) => a === b\n', false],
  ['testing/same.js', 'export const same = (a, b) => a === b\n', true],
  ['internal/testutil/same.go', 'package testutil\n', true],
  ['lib/test_helpers/same.rb', '', true],
  ['src/testing.js', '', false],
  ['src/contesting/a.js', '', false],
  ['testing/README.md', '', false],
  ['src/sum.ts', 'if (import.meta.vitest) {}\n', true],
  ['data/same.js', 'export const same = (a, b) => a === b\n', false],
  ['support/vitest-docs.md', "import { expect } from 'vitest'\n", false],
  ['checks.py', 'import pytest\n', true],
  ['checks.py', 'from unittest import mock\n', true],
  ['sums.py', 'import math\n', false],
  ['helpers/sums.rb', "require 'minitest/autorun'\n", true],
  ['common/Sums.java', 'import static org.junit.Assert.assertEquals;\n', true],
  ['common/sums.go', 'package sums\nimport (\n\t"testing"\n)\n', true],
  ['common/sums.go', 'package sums\nimport "fmt"\n', false],
])('%s with %j is a test helper: %s', (path, text, isOne) => {
  expect(isHelper(path, text)).toBe(isOne)
})
