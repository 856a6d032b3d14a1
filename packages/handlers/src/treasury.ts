import { assert } from '@market/kernel/assert'
import { formatUsd } from '@market/kernel/money'
import { formatPurpose, type UnmatchedMoney } from '@market/money/payments'
import type { ListedPayout, OutgoingTransfer, PayoutId } from '@market/money/payouts'
import {
  getTreasury,
  listPayouts,
  listUnexplained,
  listUnmatched,
  recognizeTransfer,
  refundTransfer,
  retryPayout,
  type Treasury,
  writeOffTransfer,
} from '@market/money/treasury'
import { handler } from './handler.ts'

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
})

const presentUnmatched = (money: UnmatchedMoney) => ({
  network: money.network,
  reference: money.reference,
  payer: money.payer,
  kind: money.kind,
  amount_usd: formatUsd(money.amount),
  state: money.state,
  happened_at: money.happenedAt.toISOString(),
  purpose: money.purpose === null ? null : formatPurpose(money.purpose),
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

  refundTransfer: handler('refundTransfer', {
    run: (ctx, input) => refundTransfer(ctx, input),
    present: (payout) => ({ data: presentPayout(payout) }),
  }),

  recognizeTransfer: handler('recognizeTransfer', {
    run: (ctx, input) => recognizeTransfer(ctx, input),
    present: ({ network, reference, amount }) => ({
      data: { network, reference, recognized_usd: formatUsd(amount) },
    }),
  }),

  writeOffTransfer: handler('writeOffTransfer', {
    run: (ctx, input) => writeOffTransfer(ctx, input),
    present: (transfer) => ({ data: presentWrittenOff(transfer) }),
  }),

  retryAnyPayout: handler('retryAnyPayout', {
    run: (ctx, { payout_id, payee, reason }) =>
      retryPayout(ctx, { payoutId: payout_id as PayoutId, payee, reason }),
    present: (payout) => ({ data: presentPayout(payout) }),
  }),
}
