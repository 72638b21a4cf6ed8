#!/usr/bin/env node
// Starts ralph. Written for old versions of Node too, so that it can say what is missing.
const { spawnSync } = require('node:child_process')
const { dirname } = require('node:path')
const { version } = require('../package.json')

const [major, minor] = process.versions.node.split('.').map(Number)
const isOld = major < 22 || (major === 22 && minor < 19)
const { RALPH_NODE } = process.env

if (isOld && RALPH_NODE && RALPH_NODE !== process.execPath) {
  const { status } = spawnSync(RALPH_NODE, [__filename, ...process.argv.slice(2)], { stdio: 'inherit' })
  process.exit(status === null ? 1 : status)
}
if (isOld) {
  console.error(
    `ralph needs Node 22.19 or newer, and this is ${process.version}. Install Node 24 from nodejs.org, or set RALPH_NODE to the path of a newer node.`,
  )
  process.exit(1)
}
if (process.argv[2] === '--version' || process.argv[2] === '-v') console.log(version)
else start()

function start() {
  const warn = process.emitWarning
  // node:sqlite warns on Node 22, though it is the same code as on 24, where it does not.
  process.emitWarning = (warning, ...more) => {
    if (!String(warning).includes('SQLite')) warn.call(process, warning, ...more)
  }
  const { main } = require('../dist/cli.cjs')
  main(process.argv.slice(2), { root: dirname(__dirname), version }).then((code) => {
    process.exitCode = code
  })
}
