import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})

export default config
