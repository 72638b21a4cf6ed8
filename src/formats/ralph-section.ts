/** Which lines of a config.yaml are ralph's, known without reading it as YAML. */

/** Any other config.yaml belongs to another program. */
export function hasRalphSection(text: string): boolean {
  return /^\uFEFF?(["']?)ralph\1[ \t]*:/m.test(text)
}
