/** A report as one HTML file: the page, and its data in templates that browsers neither show nor run. */

/** `hash`: SHA-256 in base64. `summary` and `details` are what the page unpacks: JSON, gzip, base64. */
export type ReportParts = {
  title: string
  script: string
  css: string
  hash: (text: string) => string
  summary: string
  details: readonly { iteration: number; data: string }[]
}

export function printReport({ title, hash, summary, details, ...parts }: ReportParts): string {
  const script = inlined(parts.script, ENDS_SCRIPT, 'script')
  const css = inlined(parts.css, /<\/style/i, 'style')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy(hash(script), hash(css))}">
<title>${escapeHtml(title)}</title>
<style>${css}</style>
</head>
<body>
<div id="app"><noscript>This report needs JavaScript. It runs in your browser and connects to nothing.</noscript></div>
${template('summary', summary)}
${details.map(({ iteration, data }) => `${template(`detail-${iteration}`, data)}\n`).join('')}<script>${script}</script>
</body>
</html>
`
}

/** Only the page itself runs; nothing is ever loaded or sent. */
function policy(script: string, css: string): string {
  return [
    `default-src 'none'`,
    `script-src 'sha256-${script}'`,
    `style-src 'sha256-${css}'`,
    'img-src data:',
    `base-uri 'none'`,
    `form-action 'none'`,
    `require-trusted-types-for 'script'`,
  ].join('; ')
}

/** Base64 has no character that ends an element. */
function template(id: string, data: string): string {
  if (!/^[A-Za-z0-9+/=]*$/.test(data)) throw new Error(`The data of ${id} is not base64.`)
  return `<template id="${id}" data-encoding="gzip+base64">${data}</template>`
}

// A comment followed by a script tag would swallow the end tag.
const ENDS_SCRIPT = /<\/script|<!--[\s\S]*<script/i

/** As the browser reads and hashes it: with line feeds. It comes from our own build, so an early end tag is a bug. */
function inlined(text: string, ends: RegExp, element: string): string {
  if (ends.test(text)) throw new Error(`The page of a report holds the end of its own ${element}.`)
  return text.replace(/\r\n?/g, '\n').replaceAll('\0', '')
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)
}
