import { LIMITS } from '@market/contract/limits'
import type { Chain, Chains } from '@market/core/ports/chain'
import type { Facilitator, Facilitators } from '@market/core/ports/facilitator'
import type { AppServices } from './app-services.ts'
import type { Call } from './call.ts'
import { formatWindow, limitReached } from './limit.ts'

/**
 * All payments of the marketplace share the quota of the nodes. So queries that a caller can cause at will count against
 * a budget of the caller's address. What follows a payment that we submitted does not count: it must not fail.
 */
type Budget = 'chain.lookups' | 'chain.signatures'

/** Counts signatures of smart wallets, which a node checks. */
export function withSignatureBudget(app: AppServices, { address, credentials }: Call): AppServices {
  if (credentials.wallet === undefined) return app
  const { signatures } = app
  const beforeQuery = () => spend(app, 'chain.signatures', address)
  return {
    ...app,
    signatures: {
      ...signatures,
      verify: (proof, purpose, now) => signatures.verify({ ...proof, beforeQuery }, purpose, now),
    },
  }
}

/** Counts lookups of transfers that the caller names. */
export const withLookupBudget = (app: AppServices, { address }: Call): AppServices => ({
  ...app,
  chains: mapValues(app.chains, (chain: Chain) => ({
    ...chain,
    findTransfer: async (query) => {
      await spend(app, 'chain.lookups', address)
      return chain.findTransfer(query)
    },
  })) as Chains,
})

/** Counts verifications of payments that the caller signed. */
export const withPaymentBudget = (app: AppServices, { address }: Call): AppServices => ({
  ...app,
  facilitators: mapValues(app.facilitators, (facilitator: Facilitator) => ({
    ...facilitator,
    rejectionReason: async (payment, amount) => {
      await spend(app, 'chain.lookups', address)
      return facilitator.rejectionReason(payment, amount)
    },
  })) as Facilitators,
})

const mapValues = <T>(values: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))

/** What was counted, in the messages. */
const COUNTED: Readonly<Record<Budget, string>> = {
  'chain.lookups': 'Too many payments of this address were looked up',
  'chain.signatures': 'Too many smart wallet signatures of this address were checked',
}

async function spend(
  { limiter, clock }: Pick<AppServices, 'limiter' | 'clock'>,
  name: Budget,
  address: string,
): Promise<void> {
  const rule = LIMITS[name]
  const usage = await limiter.consume({ name, ...rule }, address)
  if (usage.allowed) return
  const message = `${COUNTED[name]}: at most ${rule.max} in ${formatWindow(rule.windowSeconds)}. Nothing was charged or used.`
  throw limitReached(message, rule, usage, clock.wallTime())
}
