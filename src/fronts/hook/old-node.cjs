// Prepended to the bundle. Written for old versions of Node, so that it can release the session and say what is missing.
{
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 19)) {
    const home = process.env.RALPH_HOME || require('node:path').join(require('node:os').homedir(), '.ralph')
    const said = require('node:path').join(home, 'node-too-old')
    if (!require('node:fs').existsSync(said)) {
      try {
        require('node:fs').writeFileSync(said, '')
      } catch {}
      const words = `ralph needs Node 22.19 or newer but found ${process.version}. Set RALPH_NODE to a newer one, or run \`ralph install\` with it.`
      process.stdout.write(JSON.stringify({ systemMessage: words }))
    }
    process.exit(0)
  }
  const warn = process.emitWarning
  // node:sqlite warns on Node 22 although it is the same code as on 24, which does not warn.
  process.emitWarning = (warning, ...more) => String(warning).includes('SQLite') || warn.call(process, warning, ...more)
}
