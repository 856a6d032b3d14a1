import type { RemovedFix } from './removed-fix.ts'

/** What one request may cost everybody else. */
export const COST_FIXES: readonly RemovedFix[] = [
  {
    finding: 'security 1 a list of a tool reads little more than it returns',
    marker: 'parts-of-lists',
    test: 'tests/mcp/result-budget.test.ts',
    title: 'whose rows fill the result reads one part',
  },
  {
    finding: 'security 3 streams count by network',
    marker: 'streams-of-networks',
    test: 'packages/handlers/src/event-streams.test.ts',
    title: 'returns 429 for the 61st stream of an address',
  },
  {
    finding: 'engine 1 a sweep that fails keeps its interval',
    marker: 'failed-sweep-keeps-interval',
    to: 'run(ctx, log)',
    test: 'packages/jobs/src/sweeps.test.ts',
    title: 'a sweep that fails is counted and logged',
  },
  {
    finding: 'engine 2 a worker that starts runs sweeps that a failure delayed',
    marker: 'delayed-sweeps-start',
    test: 'packages/core/src/queue/queue.test.ts',
    title: 'makes a sweep due that a failure delayed',
  },
]
