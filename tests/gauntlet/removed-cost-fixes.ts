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
]
