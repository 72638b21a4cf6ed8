import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

/** The real clients, one after the other: `npm run test:clients`. */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    include: ['test/**/*.live.ts'],
    testTimeout: 120_000,
    hookTimeout: 400_000,
    fileParallelism: false,
  },
})

export default config
