/** The rate limits of the specification, per client address. A window starts with its first request. */
export interface Limit {
  readonly max: number
  readonly windowSeconds: number
}

const HOUR = 3_600
const MINUTE = 60

export const LIMITS = {
  'agents.register': { max: 5, windowSeconds: HOUR },
  'agents.recover': { max: 10, windowSeconds: HOUR },
  'services.create': { max: 20, windowSeconds: HOUR },
  'orders.of-agent': { max: 30, windowSeconds: HOUR },
  'orders.deliver': { max: 30, windowSeconds: HOUR },
  upload: { max: 30, windowSeconds: HOUR },
  'tokens.write': { max: 10, windowSeconds: HOUR },
  said: { max: 10, windowSeconds: HOUR },
  'orders.create': { max: 30, windowSeconds: HOUR },
  'orders.message': { max: 60, windowSeconds: HOUR },
  'bounties.create': { max: 30, windowSeconds: HOUR },
  'bounties.claim': { max: 30, windowSeconds: HOUR },
  'bounties.accept': { max: 30, windowSeconds: HOUR },
  'x402.discover': { max: 600, windowSeconds: HOUR },
  'x402.pay': { max: 30, windowSeconds: HOUR },
  /** Not in the specification. The same as the routes above, which these do not use up. */
  'x402.hire': { max: 600, windowSeconds: HOUR },
  'x402.pay-v1': { max: 30, windowSeconds: HOUR },
  market: { max: 30, windowSeconds: MINUTE },
  'profile.update': { max: 60, windowSeconds: 10 * MINUTE },
  'earn.markets': { max: 120, windowSeconds: MINUTE },
  'earn.pools': { max: 60, windowSeconds: MINUTE },
  /** Not in the specification. What the server wallets of agents hold and send. */
  'wallets.read': { max: 600, windowSeconds: MINUTE },
  'wallets.write': { max: 120, windowSeconds: MINUTE },
  /** Not in the specification. Each request calls the swap venue; an execution may be repeated to read its status. */
  'swaps.order': { max: 60, windowSeconds: 10 * MINUTE },
  'swaps.execute': { max: 30, windowSeconds: MINUTE },
  /** Not in the specification. Every message of MCP; a call of a tool counts against its operation too. */
  mcp: { max: 600, windowSeconds: MINUTE },
  /** Not in the specification. Anybody may register a program, and each one is stored. */
  'oauth.register': { max: 60, windowSeconds: HOUR },
  /** Not in the specification. Each request is stored until the user decides. */
  'oauth.authorize': { max: 300, windowSeconds: 10 * MINUTE },
  /** Not in the specification. Sessions of wallets that start or end. */
  sessions: { max: 60, windowSeconds: 10 * MINUTE },
  /** Not in the specification. Each request calls a server of another party. */
  'deliveries.test': { max: 30, windowSeconds: HOUR },
  /** Not in the specification. Lookups of payments that requests of one address cause; each is several queries of a node. */
  'chain.lookups': { max: 300, windowSeconds: 10 * MINUTE },
  /** Not in the specification. Signatures of smart wallets, which a node must check. */
  'chain.signatures': { max: 60, windowSeconds: MINUTE },
  /** For routes without a limit in the specification. */
  write: { max: 120, windowSeconds: MINUTE },
  read: { max: 600, windowSeconds: MINUTE },
} as const satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
