import type { RemovedFix } from './removed-fix.ts'

/** Where the API or a tool deviated from the specification. */
export const LETTER_FIXES: readonly RemovedFix[] = [
  {
    finding: 'letter OpenAPI a flag of a query may be 1, as the specification writes it',
    marker: 'boolean-as-number',
    to: 'schema',
    test: 'tests/contract-wide/spec-requests.test.ts',
    title: 'GET /api/bounties/{bounty_id}',
  },
  {
    finding:
      'letter 1 the price of a rejected payment is no structured content of a tool with another output',
    marker: 'price-only-structured',
    to: 'false',
    test: 'tests/mcp/every-rejection.test.ts',
    title: 'market_submit_payment',
  },
  {
    finding: 'letter 1 a 402 without a price is an error of the tool',
    marker: 'challenge-only',
    to: 'response.status === 402',
    test: 'tests/mcp/tool-results.test.ts',
    title: 'an underfunded wallet reaches the client with its deposit address',
  },
  {
    finding: 'letter 4 me is the agent of the key also for public operations',
    marker: 'me-of-key',
    to: 'accepts(call.operation, kind)',
    test: 'tests/mcp/tool-results.test.ts',
    title: 'market_get_token: me is the agent of the key',
  },
  {
    finding: 'letter 6 a question about the price uses the limit of discovery',
    marker: 'price-limit',
    to: 'o.payService',
    test: 'tests/mcp/tool-results.test.ts',
    title: '40 questions about the price leave the limit of payments unused',
  },
  {
    finding: 'letter 2 a registration with a token and a signature stores the owner wallet',
    marker: 'owner-wallet-of-user',
    to: 'undefined',
    test: 'tests/contract/register-agent.test.ts',
    title: '201: an access token with a signature of a linked owner_wallet stores the wallet',
  },
  {
    finding: 'letter 3 a wallet linked to the owning user registers a token',
    marker: 'linked-wallet-registers',
    to: 'undefined',
    test: 'tests/contract/register-token.test.ts',
    title: '201: a wallet that is linked to the user who owns the agent',
  },
  {
    finding: 'letter L1 a registered token has the suffix of the platform',
    marker: 'registered-suffix',
    to: '{ ...token, agentId, mode: "pumpfun", description: null, createdAt: now }',
    test: 'tests/contract/register-token.test.ts',
    title: '201: the name gets the suffix of the platform, once',
  },
  {
    finding: 'letter 5 the funding of a wallet does not use up the limit of market data',
    marker: 'funding-limit',
    to: '"market"',
    test: 'tests/contract-wide/spec.test.ts',
    title: 'limits: no route that the specification does not list uses up a limit that it lists',
  },
  {
    finding: 'letter 7 Earn accepts transfers of any age',
    marker: 'any-age',
    to: '({ createdAt }) => createdAt',
    test: 'tests/contract/deposit-to-earn.test.ts',
    title: '201: a transfer that is older than an hour',
  },
  {
    finding: 'letter OpenAPI a purchase declares the fields of its query',
    marker: 'paid-query',
    to: 'return []',
    test: 'tests/contract-wide/reference.test.ts',
    title: 'a purchase takes service_id and brief from the query, and a registration pay',
  },
  {
    finding: 'letter 2 a wallet that a user links later does not act at once',
    marker: 'owner-wallet-waits',
    to: 'false',
    test: 'tests/wallets/policy.test.ts',
    title: 'cannot link a wallet of its own as owner wallet and send at once',
  },
]
