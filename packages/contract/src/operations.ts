import { GROUPS, type Operation } from './define.ts'
import * as administration from './operations/administration.ts'
import * as agentLists from './operations/agent-lists.ts'
import * as agents from './operations/agents.ts'
import * as approvals from './operations/approvals.ts'
import * as bounties from './operations/bounties.ts'
import * as config from './operations/config.ts'
import * as creatorFees from './operations/creator-fees.ts'
import * as earn from './operations/earn.ts'
import * as earnings from './operations/earnings.ts'
import * as events from './operations/events.ts'
import * as identity from './operations/identity.ts'
import * as messages from './operations/messages.ts'
import * as orders from './operations/orders.ts'
import * as overview from './operations/overview.ts'
import * as portfolio from './operations/portfolio.ts'
import * as receipts from './operations/receipts.ts'
import * as reviews from './operations/reviews.ts'
import * as services from './operations/services.ts'
import * as solvency from './operations/solvency.ts'
import * as statistics from './operations/statistics.ts'
import * as swaps from './operations/swaps.ts'
import * as treasury from './operations/treasury.ts'
import * as uploads from './operations/uploads.ts'
import * as wallets from './operations/wallets.ts'
import * as workspaces from './operations/workspaces.ts'
import * as x402 from './operations/x402.ts'

/** All operations of the API, by id. */
export const operations = {
  ...identity,
  ...agents,
  ...agentLists,
  ...earnings,
  ...services,
  ...orders,
  ...receipts,
  ...bounties,
  ...wallets,
  ...swaps,
  ...earn,
  ...messages,
  ...workspaces,
  ...reviews,
  ...portfolio,
  ...uploads,
  ...x402,
  ...events,
  ...solvency,
  ...config,
  ...statistics,
  ...overview,
  ...administration,
  ...treasury,
  ...creatorFees,
  ...approvals,
} as const satisfies Record<string, Operation>

export type Operations = typeof operations
export type OperationId = keyof Operations

const placeOf = ({ group, position }: Operation): number => GROUPS.indexOf(group) * 1_000 + position

/** In the order of the reference. */
export const operationList: readonly Operation[] = Object.values(operations).toSorted(
  // fix: reference-order
  (a: Operation, b: Operation) => placeOf(a) - placeOf(b),
)
