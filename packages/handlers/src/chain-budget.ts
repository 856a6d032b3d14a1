import type { Chain, Chains } from '@market/core/ports/chain'
import type { Facilitator, Facilitators } from '@market/core/ports/facilitator'
import { sessionKindOf } from '@market/identity/sessions'
import type { AppServices } from './app-services.ts'
import type { Call } from './call.ts'
import { type Counted, spend } from './limit.ts'

/**
 * All payments of the marketplace share the quota of the nodes. So queries that a caller can cause at will count against
 * a budget of the caller. What follows a payment that we submitted does not count: it must not fail.
 */
type Budget = 'chain.lookups' | 'chain.signatures'

/** Counts signatures of smart wallets, which a node checks. */
export function withSignatureBudget(app: AppServices, call: Call): AppServices {
  const { wallet, cookieToken = '' } = call.credentials
  if (wallet === undefined && sessionKindOf(cookieToken) !== 'wallet') return app
  const { signatures } = app
  const beforeQuery = () => spendBudget(app, 'chain.signatures', call)
  return {
    ...app,
    signatures: {
      ...signatures,
      verify: (proof, purpose, now) => signatures.verify({ ...proof, beforeQuery }, purpose, now),
    },
  }
}

/** Counts lookups of transfers that the caller names. */
export const withLookupBudget = (app: AppServices, call: Call): AppServices => ({
  ...app,
  chains: mapValues(app.chains, (chain: Chain) => ({
    ...chain,
    findTransfer: async (query) => {
      await spendBudget(app, 'chain.lookups', call)
      return chain.findTransfer(query)
    },
  })) as Chains,
})

/** Counts verifications of payments that the caller signed. */
export const withPaymentBudget = (app: AppServices, call: Call): AppServices => ({
  ...app,
  facilitators: mapValues(app.facilitators, (facilitator: Facilitator) => ({
    ...facilitator,
    rejectionReason: async (payment, amount) => {
      await spendBudget(app, 'chain.lookups', call)
      return facilitator.rejectionReason(payment, amount)
    },
  })) as Facilitators,
})

const mapValues = <T>(values: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))

/** What was counted, in the messages. */
const COUNTED: Readonly<Record<Budget, string>> = {
  'chain.lookups': 'Too many payments were looked up',
  'chain.signatures': 'Too many smart wallet signatures were checked',
}

const spendBudget = (app: AppServices, name: Budget, counted: Counted): Promise<void> =>
  spend(app, name, counted, (maximum) => `${COUNTED[name]}: ${maximum}. Nothing was charged or used.`)
