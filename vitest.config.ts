import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { SkippedReporter } from './test/skipped.ts'

const PURE = ['src/{engine,agents,formats,prompt}/**/*.test.ts']
const TIDY = [
  'src/{analytics,board,dispatch,fleet,install,project,request,session,vault}/**/*.test.ts',
  'src/fronts/{hook,server}/**/*.test.ts',
  'src/fronts/cli/!(fleet).test.ts',
]

/** What opens doors: files, databases, programs. */
const DOORS = {
  globalSetup: ['test/in-memory.ts', 'test/one-postgres.ts'],
  // Before a landing one busy moment in seven thousand tests must not cost a day; who needed a second try is named.
  retry: process.env.CI ? 1 : 0,
  // To start a program takes the longer, the more memory a process has, and these start thousands.
  execArgv: ['--max-semi-space-size=1'],
}
const ON_POSTGRES = process.env.RALPH_TEST_DATABASE ? ['test/on-postgres.ts'] : []

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
      // Places of their own, which are cleared away after each file, and few programs: most of ralph is loaded once for
      // all of them. What starts many programs is better off in a young process.
      {
        extends: true,
        test: {
          ...DOORS,
          name: 'inside',
          include: TIDY,
          isolate: false,
          setupFiles: [...ON_POSTGRES, 'test/clear-away.ts'],
        },
      },
      {
        extends: true,
        test: {
          ...DOORS,
          name: 'doors',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...PURE, ...TIDY],
          setupFiles: ON_POSTGRES,
        },
      },
    ],
  },
})

export default config
