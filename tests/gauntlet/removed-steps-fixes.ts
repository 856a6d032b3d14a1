import type { RemovedFix } from './removed-fix.ts'

/** What a new user meets first: an empty wallet, the reference, and a seller of quotes and workspaces. */
export const STEPS_FIXES: readonly RemovedFix[] = [
  {
    finding: 'N6 an empty wallet is told wallet, network and amounts',
    marker: 'insufficient-funds-named',
    test: 'tests/sdk/hire.test.ts',
    title: 'a wallet without USDC: the error names',
  },
  {
    finding: 'N6 a rejected payment by MCP says why',
    marker: 'mcp-rejected-payment',
    test: 'tests/mcp/anonymous.test.ts',
    title: 'a payment from an empty wallet says',
  },
  {
    finding: 'N8 the reference is in the order of what people do',
    marker: 'reference-order',
    to: '0',
    test: 'packages/http/src/openapi.test.ts',
    title: 'each begins with what people do first',
  },
  {
    finding: 'N8 a contract test fails for a code that is not listed',
    marker: 'own-codes',
    to: '{}',
    test: 'tests/contract/get-order.test.ts',
    title: '404: ',
  },
  {
    finding: 'N17 a 429 of npm run dev names the route that allows more',
    marker: 'limit-names-reset',
    to: "''",
    test: 'packages/handlers/src/limit.test.ts',
    title: '429: says when to try again, and how to reset the limits where that is possible (http',
  },
  {
    finding: 'N12 a quote is made for an order without a price',
    marker: 'quote-task',
    test: 'tests/sdk/sell.test.ts',
    title: 'quotes the orders that wait',
  },
  {
    finding: 'N12 a request of before the start is answered',
    marker: 'pending-generations',
    test: 'tests/sdk/sell.test.ts',
    title: 'answers what was requested before the start',
  },
  {
    finding: 'N12 a result is not made again when only sending failed',
    marker: 'result-kept-for-retry',
    test: 'tests/sdk/sell.test.ts',
    title: 'repeats a request when onGenerate throws',
  },
]
