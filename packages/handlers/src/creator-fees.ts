import {
  type CreatorFee,
  type FeeTotal,
  listCreatorFees,
  recordCreatorFee,
  settleCreatorFee,
  statusOf,
} from '@market/custody/creator-fees'
import { UNITS, unitsOf } from '@market/custody/wallets'
import { handler } from './handler.ts'

const solOf = (lamports: bigint): number => Number(lamports) / UNITS.SOL

const presentAmounts = ({ amount, shares }: Pick<CreatorFee, 'amount' | 'shares'>) => ({
  amount_sol: solOf(amount),
  agent_sol: solOf(shares.agent),
  partner_sol: solOf(shares.partner),
  buyback_sol: solOf(shares.buyback),
})

const presentFee = (fee: CreatorFee) => ({
  id: fee.id,
  agent_id: fee.agentId,
  token_mint: fee.mint,
  token_mode: fee.mode,
  ...presentAmounts(fee),
  source_tx: fee.sourceTx,
  status: statusOf(fee),
  recorded_by: fee.recordedBy,
  created_at: fee.createdAt.toISOString(),
  settle_tx: fee.settlement?.tx ?? null,
  settled_by: fee.settlement?.by ?? null,
  settled_at: fee.settlement?.at.toISOString() ?? null,
  reversed_at: fee.reversal?.at.toISOString() ?? null,
  approval_id: fee.reversal?.approvalId ?? null,
})

const presentTotal = (total: FeeTotal) => ({ count: total.count, ...presentAmounts(total) })

export const creatorFeeHandlers = {
  listCreatorFees: handler('listCreatorFees', {
    run: (ctx, { agent_id, ...query }) => listCreatorFees(ctx, { agentId: agent_id, ...query }),
    present: ({ fees, totals, nextCursor }) => ({
      data: fees.map(presentFee),
      totals: { accrued: presentTotal(totals.accrued), settled: presentTotal(totals.settled) },
      next_cursor: nextCursor,
    }),
  }),

  recordCreatorFee: handler('recordCreatorFee', {
    run: (ctx, { agent_id, amount_sol, source_tx }) =>
      recordCreatorFee(ctx, {
        agentId: agent_id,
        lamports: unitsOf('SOL', amount_sol),
        sourceTx: source_tx,
      }),
    present: (fee) => ({ data: presentFee(fee) }),
  }),

  settleCreatorFee: handler('settleCreatorFee', {
    run: (ctx, { creator_fee_id, settle_tx }) =>
      settleCreatorFee(ctx, { feeId: creator_fee_id, settleTx: settle_tx }),
    present: (fee) => ({ data: presentFee(fee) }),
  }),
}
