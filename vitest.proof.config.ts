import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { ProofCounts } from './test/proof/counts.ts'
import { SkippedReporter } from './test/skipped.ts'

/** Ways to weaken a proof and honest work beside them, with real test runners: `npm run test:proof`. */
const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter(), new ProofCounts()],
    include: ['test/proof/*.proof.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    maxWorkers: 2,
    maxConcurrency: 2,
    retry: process.env.CI ? 1 : 0, // as in `npm test`: who needed it is named
  },
})

export default config
