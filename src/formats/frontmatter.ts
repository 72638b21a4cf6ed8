/** The frontmatter of a Markdown file, between lines of dashes. */

/** The head, and everything after its last line. Neither if there is no head or it never ends. */
export function splitFrontmatter(text: string): string[] {
  return FRONTMATTER.exec(text)?.slice(1) ?? []
}

const FRONTMATTER = /^\uFEFF?---[ \t]*\r?\n(|.*?\n)(?:---|\.{3})[ \t]*(?:\r?\n(.*))?$/s
