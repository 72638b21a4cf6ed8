/** A real browser: Chromium from npm, in a folder git ignores, without anything of this machine. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'

const PLAYWRIGHT = 'playwright-core'
const CHROMIUM = '@sparticuz/chromium'
const PINS = [`${PLAYWRIGHT}@1.65.0`, `${CHROMIUM}@147.0.0`]

/** What it would be started with where nobody means it harm. */
const UNSAFE = /web-security|insecure|site-isolation|IsolateOrigins|^--disable-features|^--enable-features/

/** What is used of Playwright. */
export type Browser = { newPage(): Promise<Page>; version(): string; close(): Promise<void> }
export type Page = {
  goto(url: string): Promise<{ status(): number } | null>
  evaluate<Given, Result>(work: (given: Given) => Result | Promise<Result>, given: Given): Promise<Result>
  close(): Promise<void>
}

export type Launch = (args?: readonly string[]) => Promise<Browser>

/** Installed when it is not there yet, or why it is not available. */
export async function installBrowser(): Promise<{ launch: Launch } | { missing: string }> {
  const folder = resolve('.clients', 'browser')
  try {
    if (!existsSync(folder)) {
      mkdirSync('.clients', { recursive: true })
      const mine = mkdtempSync(resolve('.clients', '.browser-'))
      const install = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', mine, ...PINS]
      execFileSync('npm', install, { stdio: 'pipe', timeout: 300_000 })
      if (existsSync(folder)) rmSync(mine, { recursive: true })
      else renameSync(mine, folder)
    }
    const require = createRequire(resolve(folder, 'package.json'))
    const { chromium: playwright } = require(PLAYWRIGHT) as {
      chromium: { launch(options: object): Promise<Browser> }
    }
    const { default: chromium } = (await import(require.resolve(CHROMIUM))) as {
      default: { args: string[]; executablePath(): Promise<string> }
    }
    const executablePath = await inFolder(folder, () => chromium.executablePath())
    const usual = chromium.args.filter((arg) => !UNSAFE.test(arg))
    const launch: Launch = (args = []) => playwright.launch({ executablePath, args: [...usual, ...args], env: {} })
    await (await launch()).close()
    return { launch }
  } catch (cause) {
    const [why] = cause instanceof Error ? cause.message.split('\n') : [cause]
    return { missing: `Chromium is not available here: ${why}` }
  }
}

/** It unpacks itself into the folder for temporary files, and stays there. */
async function inFolder<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    return await work()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}
