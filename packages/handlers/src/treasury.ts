import { propose } from '@market/core/approvals'
import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { formatPurpose, transferName } from '@market/money/payments'
import type { ListedPayout, OutgoingTransfer, PayoutId } from '@market/money/payouts'
import {
  claimRefund,
  getTreasury,
  type ListedUnmatched,
  listPayouts,
  listUnexplained,
  listUnmatched,
  refundTransfer,
  retryPayout,
  type Treasury,
  writeOffTransfer,
} from '@market/money/treasury'
import { proposalOf } from './approval-kinds.ts'
import { presentApproval } from './approvals.ts'
import { handler } from './handler.ts'
import { loadActor } from './load-actor.ts'

const presentTreasury = (treasury: Treasury) => ({
  network: treasury.network,
  open: treasury.isOpen,
  compared_at: treasury.comparedAt?.toISOString() ?? null,
  short_usd: formatUsd(treasury.short),
  short_since: treasury.shortSince?.toISOString() ?? null,
  waiting: treasury.waiting,
  oldest_seconds: treasury.oldestSeconds,
  held: treasury.held,
  failed: treasury.failed,
  balance_usd: formatUsd(treasury.balance),
  hot_max_usd: treasury.hotMax === null ? null : formatUsd(treasury.hotMax),
  above_hot_max_usd: formatUsd(treasury.aboveHotMax),
  cold_address: treasury.cold.address,
  cold_usd: formatUsd(treasury.cold.moved),
  fees_usd: formatUsd(treasury.fees.balance),
  fees_available_usd: formatUsd(treasury.fees.available),
  fees_withdrawn_usd: formatUsd(treasury.fees.withdrawn),
  unjustified: treasury.unjustified,
})

const presentUnmatched = (money: ListedUnmatched) => ({
  id: money.account,
  network: money.network,
  reference: money.reference,
  payer: money.payer,
  kind: money.kind,
  amount_usd: formatUsd(money.amount),
  state: money.state,
  happened_at: money.happenedAt.toISOString(),
  purpose: money.purpose === null ? null : formatPurpose(money.purpose),
  claims: money.claims.map(({ wallet, note, createdAt }) => ({
    wallet,
    note,
    created_at: createdAt.toISOString(),
  })),
})

const presentPayout = (payout: ListedPayout) => ({
  id: payout.id,
  kind: payout.kind,
  subject: payout.subject,
  network: payout.network,
  payee: payout.payee,
  amount_usd: formatUsd(payout.amount),
  state: payout.state,
  hold_code: payout.holdCode,
  reason: payout.reason,
  round: payout.round,
  created_at: payout.createdAt.toISOString(),
  updated_at: payout.updatedAt.toISOString(),
  tx_hash: payout.reference,
})

const presentOutgoingTransfer = (transfer: OutgoingTransfer) => ({
  id: `${transfer.network}:${transferName(transfer)}`,
  network: transfer.network,
  reference: transfer.reference,
  payout_id: transfer.payoutId,
  payee: transfer.payee,
  amount_usd: formatUsd(transfer.amount),
  happened_at: transfer.at.toISOString(),
})

function presentWrittenOff(transfer: OutgoingTransfer) {
  assert(transfer.writtenOffAt !== null, `${transfer.reference} was written off`)
  return { ...presentOutgoingTransfer(transfer), written_off_at: transfer.writtenOffAt.toISOString() }
}

export const treasuryHandlers = {
  getTreasury: handler('getTreasury', {
    run: (ctx) => getTreasury(ctx),
    present: (treasuries) => ({ data: treasuries.map(presentTreasury) }),
  }),

  listUnmatched: handler('listUnmatched', {
    run: (ctx, page) => listUnmatched(ctx, page),
    present: ({ rows, nextCursor }) => ({ data: rows.map(presentUnmatched), next_cursor: nextCursor }),
  }),

  listPayouts: handler('listPayouts', {
    run: (ctx, { state, ...rest }) => listPayouts(ctx, { states: state, ...rest }),
    present: ({ rows, nextCursor }) => ({ data: rows.map(presentPayout), next_cursor: nextCursor }),
  }),

  listUnexplained: handler('listUnexplained', {
    run: (ctx, page) => listUnexplained(ctx, page),
    present: ({ rows, nextCursor }) => ({ data: rows.map(presentOutgoingTransfer), next_cursor: nextCursor }),
  }),

  claimRefund: handler('claimRefund', {
    run: async (ctx, { unmatched_id, note }) =>
      claimRefund(ctx, await loadActor(ctx), { unmatchedId: unmatched_id, note }),
    present: ({ unmatchedId, network, payee, amount }) => ({
      data: {
        id: unmatchedId,
        status: amount === null ? ('waits_for_operators' as const) : ('refunding' as const),
        amount_usd: amount === null ? null : formatUsd(amount),
        network,
        payee,
      },
      isLater: amount === null,
    }),
  }),

  refundTransfer: handler('refundTransfer', {
    run: (ctx, input) => refundTransfer(ctx, { unmatchedId: input.unmatched_id, reason: input.reason }),
    present: (payout) => ({ data: presentPayout(payout) }),
  }),

  recognizeTransfer: handler('recognizeTransfer', {
    run: (ctx, { unmatched_id, reason }) =>
      propose(ctx, proposalOf(ctx, 'recognize_revenue', { unmatched_id }), reason),
    present: (approval) => ({ data: presentApproval(approval) }),
  }),

  writeOffTransfer: handler('writeOffTransfer', {
    run: (ctx, input) => writeOffTransfer(ctx, { transferId: input.transfer_id, reason: input.reason }),
    present: (transfer) => ({ data: presentWrittenOff(transfer) }),
  }),

  retryAnyPayout: handler('retryAnyPayout', {
    run: (ctx, { payout_id, reason }) => retryPayout(ctx, { payoutId: payout_id as PayoutId, reason }),
    present: (payout) => ({ data: presentPayout(payout) }),
  }),
}
