import type { RemovedFix } from './removed-fix.ts'

/** Of the security review: who may, and who was it. */
export const WHO_FIXES: readonly RemovedFix[] = [
  {
    finding: 'security 6 a change over MCP names its API key',
    marker: 'mcp-credential',
    to: "{ kind: 'agent', agentId: agent.id } as const",
    test: 'tests/mcp/logs.test.ts',
    title: 'security log: a change by a tool names',
  },
  {
    finding: 'security 6 the audit log names the credential',
    marker: 'audit-credential',
    to: 'null',
    test: 'tests/mcp/oauth-events.test.ts',
    title: 'calls: a change by a program is logged',
  },
  {
    finding: 'security 6 a refresh token used twice is an event',
    marker: 'oauth-reuse',
    test: 'tests/mcp/oauth-events.test.ts',
    title: 'refresh token: a second use',
  },
  {
    finding: 'security 6 a registration of a program is an event',
    marker: 'oauth-registered',
    test: 'tests/mcp/oauth-events.test.ts',
    title: 'registration: names the program',
  },
  {
    finding: 'security 6 routes of the authorization server have names',
    marker: 'oauth-operation',
    test: 'tests/mcp/oauth-events.test.ts',
    title: 'request log: every route of the authorization server',
  },
  {
    finding: 'security 6 every error inside the authorization server is counted',
    marker: 'oauth-other-faults',
    test: 'packages/http/src/oauth/provider.test.ts',
    title: 'provider: an error outside its own handling',
  },
  {
    finding: 'security 6 changes of endpoints are events',
    marker: 'endpoint-event',
    to: '[]',
    test: 'packages/handlers/src/security-events.test.ts',
    title: 'has one for its endpoint',
  },
  {
    finding: 'security 6 acts of wallets are events',
    marker: 'wallet-events',
    test: 'packages/handlers/src/security-events.test.ts',
    title: 'sendFromWallet is wallet.send_requested',
  },
  {
    finding: 'security low an endpoint that never responded with 2xx gets 10 attempts an hour',
    marker: 'unproven-attempts',
    test: 'packages/identity/src/webhooks/unproven.test.ts',
    title: 'gets 10 attempts an hour',
    to: 'undefined',
  },
  {
    finding: 'security low another endpoint starts anew',
    marker: 'endpoint-unproven',
    to: 'undefined',
    test: 'packages/identity/src/webhooks/unproven.test.ts',
    title: 'another endpoint_url has to respond',
  },
  {
    finding: 'security low tests of endpoints count',
    marker: 'unproven-test',
    to: 'undefined',
    test: 'packages/identity/src/webhooks/unproven.test.ts',
    title: 'tests count too',
  },
  {
    finding: 'security low forwarding headers of other peers are logged',
    marker: 'untrusted-proxy',
    test: 'tests/contract-wide/logged-responses.test.ts',
    title: 'forwarding headers of a peer',
  },
  {
    finding: 'security low the operators’ program cleans what it prints',
    marker: 'admin-clean-text',
    to: 'print',
    test: 'packages/admin/src/run.test.ts',
    title: 'tables and errors have no control character',
  },
  {
    finding: 'security 8 every response of the pages has the security headers',
    marker: 'headers-of-every-response',
    test: 'tests/browser/web-server.test.ts',
    title: '/healthz: has the security headers',
  },
  {
    finding: 'security 8 KMS_ENDPOINT is encrypted',
    marker: 'kms-url',
    test: 'packages/kernel/src/encrypted-url.test.ts',
    title: 'kms.example is rejected',
  },
  {
    finding: 'security low SCREENING_URL is encrypted',
    marker: 'screening-url',
    test: 'packages/kernel/src/encrypted-url.test.ts',
    title: 'screening.example/check is rejected',
  },
]
