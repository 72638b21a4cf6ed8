/** The head that a Markdown file may begin with, between lines of dashes. */

/** The head, and all that comes behind the line that ends it. Neither, when there is no head or it never ends. */
export function splitFrontmatter(text: string): string[] {
  return FRONTMATTER.exec(text)?.slice(1) ?? []
}

const FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n(|.*?\n)(?:---|\.{3})[ \t]*(?:\r?\n(.*))?$/s
