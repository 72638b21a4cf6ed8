import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

const PURE = ['src/{engine,agents,formats,prompt}/**/*.test.ts']

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['default', new SkippedReporter()],
    // On a machine of two cores Vitest would leave one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      // Values in, values out: these files leave nothing behind that another could meet, and a worker of its own for
      // each takes three times as long.
      { extends: true, test: { name: 'pure', include: PURE, isolate: false } },
      // Before a landing one busy moment in seven thousand tests must not cost a day; who needed a second try is named.
      {
        extends: true,
        test: {
          name: 'doors',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: PURE,
          globalSetup: ['test/in-memory.ts', 'test/one-postgres.ts'],
          setupFiles: process.env.RALPH_TEST_DATABASE ? ['test/on-postgres.ts'] : [],
          retry: process.env.CI ? 1 : 0,
          // To start a program takes the longer, the more memory a process has, and these start thousands.
          execArgv: ['--max-semi-space-size=1'],
        },
      },
    ],
  },
})

export default config
