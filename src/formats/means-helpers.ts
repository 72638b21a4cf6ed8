/** Finds tests and test helpers among sources: they use a test library, or are named like a helper. */

/** npm packages for assertions. */
export const TEST_LIBRARIES: readonly string[] =
  'vitest @vitest/expect jest @jest/globals expect chai mocha ava uvu tap should sinon supertest @playwright/test fast-check power-assert unexpected'.split(
    ' ',
  )

/** Whether it is worth reading. */
export function mayBeHelper(path: string): boolean {
  return LIBRARIES.some(([ends]) => ends.test(endOf(path)))
}

/** `text`: the file at the start. A program's own assertions do not make it a test. */
export function isHelper(path: string, text: string): boolean {
  const end = endOf(path)
  const library = LIBRARIES.find(([ends]) => ends.test(end))?.[1]
  if (library?.test(text)) return true
  if (library !== undefined && FOLDER.test(path)) return true
  if (library === undefined || PRODUCT.test(path)) return false
  return NAMED.test(path) || (/^[cm]?[jt]sx?$/.test(end) && ASSERT.test(text))
}

function endOf(path: string): string {
  return /\.(\w+)$/.exec(path)?.[1] ?? ''
}

const LIBRARIES: readonly (readonly [ends: RegExp, library: RegExp])[] = [
  [
    /^[cm]?[jt]sx?$/,
    new RegExp(
      String.raw`\b(?:from|import|require)\s*\(?\s*['"](?:${TEST_LIBRARIES.join('|')}|node:test|bun:test|jsr:@std\/(?:assert|expect|testing)[^'"]*|@testing-library\/[^'"]+)['"]|\bimport\.meta\.vitest\b`,
    ),
  ],
  [/^py$/, /^[ \t]*(?:import|from)\s+(?:pytest|unittest|nose2?|hypothesis|assertpy|hamcrest)\b/m],
  [/^rb$/, /\brequire\s*\(?\s*['"](?:minitest|rspec|test\/unit)/],
  [
    /^(java|kts?|groovy|scala)$/,
    /^[ \t]*import\s+(?:static\s+)?(?:org\.(?:junit|assertj|hamcrest|testng|mockito|scalatest|spockframework)|kotlin\.test|io\.kotest)\b/m,
  ],
  [/^go$/, /^[ \t]*(?:import\s+)?"(?:testing|github\.com\/(?:stretchr\/testify|onsi\/gomega)[^"]*)"/m],
  [
    /^(cs|fs|vb)$/,
    /^[ \t]*(?:using|open|Imports)\s+(?:Xunit|NUnit|Microsoft\.VisualStudio\.TestTools|FluentAssertions)\b/m,
  ],
  [/^php$/, /\buse\s+PHPUnit\\/],
  [/^swift$/, /^[ \t]*import\s+(?:XCTest|Testing)\b/m],
  [/^dart$/, /['"]package:(?:test|flutter_test)\//],
]

const ASSERT = /\b(?:from|import|require)\s*\(?\s*['"](?:node:)?assert(?:\/strict)?['"]/
/** Folders that often contain helpers and rarely products. */
const FOLDER = /(^|\/)(testing|tests?[-_]?(utils?|helpers?|support|kit|lib)|spec[-_]?(utils?|helpers?|support))\//i
const NAMED = /(^|\/)(support|assertions?|matchers?|expectations?)(\/|\.\w+$)/i
const PRODUCT = /(^|\/)(src|lib|app|apps|dist|build|pkg|cmd|server|client|main|index|cli)(\/|\.\w+$)/i
