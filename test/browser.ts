/** A real browser: Chromium from npm, in a folder that git ignores, isolated from this machine. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core'

export type { Browser, BrowserContext, Page } from 'playwright-core'

const CHROMIUM = '@sparticuz/chromium'
const PIN = `${CHROMIUM}@147.0.0`

/** Flags for trusted pages only; and those that put tabs in one process, which ends when one of them is closed. */
const UNSAFE =
  /web-security|insecure|site-isolation|IsolateOrigins|^--disable-features|^--enable-features|single-process|no-zygote/

export type Launch = (args?: readonly string[]) => Promise<Browser>

/** Installs it if needed, or returns why it is not available. */
export async function installBrowser(): Promise<{ launch: Launch } | { missing: string }> {
  const folder = resolve('.clients', 'browser')
  try {
    if (!existsSync(folder)) {
      mkdirSync('.clients', { recursive: true })
      const mine = mkdtempSync(resolve('.clients', '.browser-'))
      const install = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--prefix', mine, PIN]
      execFileSync('npm', install, { stdio: 'pipe', timeout: 300_000 })
      await unpack(mine) // before others see it: a program that is still being written cannot be started
      if (existsSync(folder)) rmSync(mine, { recursive: true })
      else renameSync(mine, folder)
    }
    const { executablePath, args: all } = await unpack(folder)
    const usual = all.filter((arg) => !UNSAFE.test(arg))
    const launch: Launch = (args = []) => playwright.launch({ executablePath, args: [...usual, ...args], env: {} })
    await (await launch()).close()
    return { launch }
  } catch (cause) {
    const [why] = cause instanceof Error ? cause.message.split('\n') : [cause]
    return { missing: `Chromium is not available here: ${why}` }
  }
}

/** Chromium unpacks itself into the temporary folder, once. */
async function unpack(folder: string): Promise<{ executablePath: string; args: string[] }> {
  const require = createRequire(resolve(folder, 'package.json'))
  const { default: chromium } = (await import(require.resolve(CHROMIUM))) as {
    default: { args: string[]; executablePath(): Promise<string> }
  }
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  try {
    return { executablePath: await chromium.executablePath(), args: chromium.args }
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

export const DESKTOP = { width: 1320, height: 860 } as const
export const PHONE = { width: 390, height: 844 } as const

/** The page as a user sees it. */
export type Eyes = { phone?: boolean; dark?: boolean }

export type Tabs = {
  context: BrowserContext
  open(url: string): Promise<Page>
  /** Console errors (including policy violations), exceptions and dialogs, in all tabs. */
  wrong: string[]
}

/** Tabs that share their storage, like those of one window. Animations are off. */
export async function openTabs(browser: Browser, { phone = false, dark = false }: Eyes = {}): Promise<Tabs> {
  const context = await browser.newContext({
    viewport: phone ? PHONE : DESKTOP,
    hasTouch: phone,
    isMobile: phone,
    colorScheme: dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    deviceScaleFactor: 1,
    locale: 'en-US',
  })
  const wrong: string[] = []
  context.on('console', (said) => {
    if (said.type() === 'error') wrong.push(`console: ${said.text()} (${said.location().url})`)
  })
  context.on('weberror', (thrown) => wrong.push(`exception: ${thrown.error().message}`))
  context.on('dialog', (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const open = async (url: string) => {
    const page = await context.newPage()
    await page.goto(url)
    return page
  }
  return { context, open, wrong }
}
