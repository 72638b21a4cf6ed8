/** Masks what looks like a key, so that transcripts can be shown around. */

const KEYS =
  /\b(sk-ant-|sk-proj-|sk-|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xox[abprs]-|npm_|AIza|AKIA|ASIA|hf_)[A-Za-z0-9_-]{12,}|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g

export function maskSecrets(text: string): string {
  return text.replace(KEYS, (found, prefix: string | undefined) => `${prefix ?? found.slice(0, 12)}…masked…`)
}
