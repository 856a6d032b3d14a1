import { APPROVAL_PAYLOADS, type ApprovalKind, type ApprovalPayload } from '@market/contract/schemas/approval'
import type { Approval, Concern, Proposal } from '@market/core/approvals'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import type { ListedPayout, PayoutId } from '@market/money/payouts'
import {
  checkCapped,
  checkColdMove,
  checkPairing,
  checkRecognition,
  checkRedirection,
  checkRefund,
  checkWithdrawal,
  executeCapped,
  executeColdMove,
  executePairing,
  executeRecognition,
  executeRedirection,
  executeRefund,
  executeWithdrawal,
  parseTransferId,
  parseUnmatchedId,
} from '@market/money/treasury'
import { checkResolution, executeResolution, payoutRecipients } from '@market/trade/orders'
import type { HandlerContext } from './handler.ts'
import { moneyOf } from './parse.ts'
import { verdictOf } from './verdict-of.ts'

interface KindOf<Payload> {
  readonly check: (ctx: HandlerContext, tx: Tx, payload: Payload) => Promise<Concern>
  readonly execute: (ctx: HandlerContext, tx: Tx, payload: Payload, approvalId: string) => Promise<void>
}

const resolutionOf = (payload: ApprovalPayload<'resolve_dispute'>) => ({
  orderId: payload.order_id as OrderId,
  verdict: verdictOf(payload, 'payload.agent_share_bps'),
  note: payload.note,
})

const redirectionOf = (payload: ApprovalPayload<'redirect_payout'>) => ({
  payoutId: payload.payout_id as PayoutId,
  payee: payload.payee,
})

const refundOf = (payload: ApprovalPayload<'refund_unmatched'>) => ({
  unmatchedId: payload.unmatched_id,
  payee: payload.payee,
})

const pairOf = (payload: ApprovalPayload<'pair_transfer'>) => ({
  sent: parseTransferId(payload.transfer_id),
  received: parseUnmatchedId(payload.unmatched_id),
})

const withdrawalOf = (payload: ApprovalPayload<'withdraw_fees'>) => ({
  network: payload.network,
  amount: moneyOf(payload.amount_usd),
  payee: payload.payee,
})

const coldMoveOf = (payload: ApprovalPayload<'move_to_cold'>) => ({
  network: payload.network,
  amount: moneyOf(payload.amount_usd),
})

/** Also notifies whose payout it is. */
async function withOwner(
  tx: Tx,
  { payout, ...concern }: Concern & { readonly payout: ListedPayout },
): Promise<Concern> {
  return { ...concern, recipients: [...concern.recipients, ...(await payoutRecipients(tx, payout))] }
}

/** What each kind of proposal does. A kind of the contract without an entry here does not compile. */
const KINDS: { readonly [Kind in ApprovalKind]: KindOf<ApprovalPayload<Kind>> } = {
  resolve_dispute: {
    check: async (ctx, tx, payload) => checkResolution(ctx, tx, resolutionOf(payload)),
    execute: (ctx, tx, payload, id) => executeResolution(ctx, tx, resolutionOf(payload), id),
  },
  redirect_payout: {
    check: async (ctx, tx, payload) => {
      return withOwner(tx, await checkRedirection(ctx, tx, redirectionOf(payload)))
    },
    execute: (ctx, tx, payload, id) => executeRedirection(ctx, tx, redirectionOf(payload), id),
  },
  approve_payout: {
    check: async (_ctx, tx, { payout_id }) => withOwner(tx, await checkCapped(tx, payout_id as PayoutId)),
    execute: (ctx, tx, { payout_id }, id) => executeCapped(ctx, tx, payout_id as PayoutId, id),
  },
  refund_unmatched: {
    check: (ctx, tx, payload) => checkRefund(ctx, tx, refundOf(payload)),
    execute: (ctx, tx, payload, id) => executeRefund(ctx, tx, refundOf(payload), id),
  },
  recognize_revenue: {
    check: (ctx, tx, payload) => checkRecognition(ctx, tx, payload.unmatched_id),
    execute: (ctx, tx, payload, id) => executeRecognition(ctx, tx, payload.unmatched_id, id),
  },
  pair_transfer: {
    check: (_ctx, tx, payload) => checkPairing(tx, pairOf(payload)),
    execute: (ctx, tx, payload, id) => executePairing(ctx, tx, pairOf(payload), id),
  },
  withdraw_fees: {
    check: async (ctx, tx, payload) => checkWithdrawal(ctx, tx, withdrawalOf(payload)),
    execute: async (ctx, tx, payload, id) => executeWithdrawal(ctx, tx, withdrawalOf(payload), id),
  },
  move_to_cold: {
    check: async (ctx, tx, payload) => checkColdMove(ctx, tx, coldMoveOf(payload)),
    execute: async (ctx, tx, payload, id) => executeColdMove(ctx, tx, coldMoveOf(payload), id),
  },
}

/** A proposal as the contract parsed it. */
export function proposalOf<Kind extends ApprovalKind>(
  ctx: HandlerContext,
  kind: Kind,
  payload: ApprovalPayload<Kind>,
): Proposal {
  const { check, execute } = KINDS[kind]
  return {
    kind,
    payload,
    check: (tx) => check(ctx, tx, payload),
    execute: (tx, { id }) => execute(ctx, tx, payload, id),
  }
}

/** The kind and its payload, which the contract checked together or the database stored. */
export function parseProposal(
  ctx: HandlerContext,
  { kind, payload }: Pick<Approval, 'kind' | 'payload'>,
): Proposal {
  assert(Object.hasOwn(APPROVAL_PAYLOADS, kind), `${kind} is a kind of proposal`)
  const known = kind as ApprovalKind
  return proposalOf(ctx, known, APPROVAL_PAYLOADS[known].parse(payload) as ApprovalPayload<typeof known>)
}
