/** Masks what looks like a key, so that transcripts can be shown around. */

// Words such as npm_package_version begin like a key, but have a second underscore. Tokens of ralph's own have a length.
const KEYS =
  /\b(?:(sk-ant-|sk-proj-|sk-|github_pat_|glpat-|xox[abprs]-|AIza)[A-Za-z0-9_-]{12,}|(gh[opsu]_|npm_|hf_|AKIA|ASIA)[A-Za-z0-9]{16,}|ralph_[\w-]{43})|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g

export function maskSecrets(text: string): string {
  return text.replace(
    KEYS,
    (found, prefix: string | undefined, short: string | undefined) =>
      `${prefix ?? short ?? found.slice(0, 12)}…masked…`,
  )
}
