import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

/** The fleet under trouble and load, with workers as processes: `npm run test:fleet`. */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    include: ['test/fleet/*.fleet.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
    retry: process.env.CI ? 1 : 0, // as in `npm test`: who needed it is named
  },
})

export default config
