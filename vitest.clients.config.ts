import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

/** The real clients, two at a time: `npm run test:clients`. */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    include: ['test/**/*.live.ts'],
    globalSetup: 'test/one-postgres.ts',
    setupFiles: process.env.RALPH_TEST_DATABASE ? ['test/on-postgres.ts'] : [],
    testTimeout: 180_000,
    hookTimeout: 400_000,
    maxWorkers: 2,
    // A client in a terminal on a busy machine now and then swallows a key; who needed a second try is named.
    retry: 1,
  },
})

export default config
