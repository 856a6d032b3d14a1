import type { OperationId } from '@market/contract/operations'
import { administrationHandlers } from './administration.ts'
import { agentOwnerHandlers } from './agent-owners.ts'
import { agentHandlers } from './agents.ts'
import { approvalHandlers } from './approvals.ts'
import { bountyHandlers } from './bounties.ts'
import { configHandlers } from './config.ts'
import { creatorFeeHandlers } from './creator-fees.ts'
import { earnHandlers } from './earn.ts'
import { earningHandlers } from './earnings.ts'
import { eventHandlers } from './events.ts'
import type { AnyHandler } from './handler.ts'
import { identityHandlers } from './identity.ts'
import { messageHandlers } from './messages.ts'
import { orderHandlers } from './orders.ts'
import { overviewHandlers } from './overview.ts'
import { portfolioHandlers } from './portfolio.ts'
import { receiptHandlers } from './receipts.ts'
import { reviewHandlers } from './reviews.ts'
import { serviceHandlers } from './services.ts'
import { solvencyHandlers } from './solvency.ts'
import { statisticHandlers } from './statistics.ts'
import { swapHandlers } from './swaps.ts'
import { tokenHandlers } from './tokens.ts'
import { treasuryHandlers } from './treasury.ts'
import { uploadHandlers } from './uploads.ts'
import { walletHandlers } from './wallets.ts'
import { workspaceHandlers } from './workspaces.ts'
import { x402Handlers } from './x402/handlers.ts'
import type { SoldOnly } from './x402/purchase-handlers.ts'

/** Every operation has a handler, or the program does not compile. Operations that only sell have purchase handlers. */
export const handlers = {
  ...identityHandlers,
  ...agentHandlers,
  ...agentOwnerHandlers,
  ...earningHandlers,
  ...serviceHandlers,
  ...orderHandlers,
  ...receiptHandlers,
  ...bountyHandlers,
  ...walletHandlers,
  ...tokenHandlers,
  ...swapHandlers,
  ...earnHandlers,
  ...messageHandlers,
  ...workspaceHandlers,
  ...reviewHandlers,
  ...portfolioHandlers,
  ...uploadHandlers,
  ...x402Handlers,
  ...eventHandlers,
  ...solvencyHandlers,
  ...configHandlers,
  ...statisticHandlers,
  ...overviewHandlers,
  ...administrationHandlers,
  ...treasuryHandlers,
  ...creatorFeeHandlers,
  ...approvalHandlers,
} satisfies Record<Exclude<OperationId, SoldOnly>, AnyHandler>
