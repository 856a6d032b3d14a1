import { APPROVAL_PAYLOADS, type ApprovalKind, type ApprovalPayload } from '@market/contract/schemas/approval'
import type { Approval, ApprovalRule, Concern, Proposal } from '@market/core/approvals'
import { type CreatorFee, reverseCreatorFee } from '@market/custody/creator-fees'
import { endWalletOperation, type OperationEnd } from '@market/custody/wallets'
import { acceptVenueTransfer } from '@market/earn/venue-transfers'
import { assert } from '@market/kernel/assert'
import type { OrderId } from '@market/kernel/ids'
import type { ListedPayout, PayoutId } from '@market/money/payouts'
import {
  approvePayout,
  moveToCold,
  pairTransfer,
  parseTransferId,
  parseUnmatchedId,
  recognizeRevenue,
  redirectPayout,
  refundUnmatched,
  withdrawFees,
} from '@market/money/treasury'
import { payoutRecipients, resolveByTwo } from '@market/trade/orders'
import type { HandlerContext } from './handler.ts'
import { moneyOf } from './parse.ts'
import { verdictOf } from './verdict-of.ts'

type Rule<Payload, About extends Concern = Concern> = ApprovalRule<HandlerContext, Payload, About>

/** What each kind of proposal does. A kind of the contract without an entry here does not compile. */
const KINDS: { readonly [Kind in ApprovalKind]: Rule<ApprovalPayload<Kind>> } = {
  resolve_dispute: kind(resolveByTwo, (payload) => ({
    orderId: payload.order_id as OrderId,
    verdict: verdictOf(payload, 'payload.agent_share_bps'),
    note: payload.note,
  })),
  redirect_payout: kind(withOwner(redirectPayout), ({ payout_id, payee }) => ({
    payoutId: payout_id as PayoutId,
    payee,
  })),
  approve_payout: kind(withOwner(approvePayout), ({ payout_id }) => payout_id as PayoutId),
  refund_unmatched: kind(refundUnmatched, ({ unmatched_id, payee }) => ({
    unmatched: parseUnmatchedId(unmatched_id),
    payee,
  })),
  recognize_revenue: kind(recognizeRevenue, ({ unmatched_id }) => parseUnmatchedId(unmatched_id)),
  pair_transfer: kind(pairTransfer, ({ transfer_id, unmatched_id }) => ({
    sent: parseTransferId(transfer_id),
    received: parseUnmatchedId(unmatched_id),
  })),
  withdraw_fees: kind(withdrawFees, ({ network, amount_usd, payee }) => ({
    network,
    amount: moneyOf(amount_usd),
    payee,
  })),
  move_to_cold: kind(moveToCold, ({ network, amount_usd }) => ({ network, amount: moneyOf(amount_usd) })),
  accept_venue_transfer: kind(acceptVenueTransfer, ({ venue_transfer_id, vault_shares, amount_usd }) => ({
    id: venue_transfer_id,
    vaultShares: BigInt(vault_shares),
    assets: moneyOf(amount_usd),
  })),
  end_wallet_operation: kind(endWalletOperation, ({ operation_id, tx_signature }) => ({
    id: operation_id as OperationEnd['id'],
    reference: tx_signature ?? null,
  })),
  reverse_creator_fee: kind(reverseCreatorFee, ({ creator_fee_id }) => creator_fee_id as CreatorFee['id']),
}

/** A rule of a domain with the payload of the contract. */
function kind<Payload, Parsed>(rule: Rule<Parsed>, parse: (payload: Payload) => Parsed): Rule<Payload> {
  const { observe } = rule
  return {
    ...(observe && { observe: async (ctx, payload) => observe(ctx, parse(payload)) }),
    check: async (ctx, tx, payload) => rule.check(ctx, tx, parse(payload)),
    execute: async (ctx, tx, payload, id) => rule.execute(ctx, tx, parse(payload), id),
  }
}

/** Also notifies whose payout it is. */
function withOwner<Payload>(rule: Rule<Payload, Concern & { readonly payout: ListedPayout }>): Rule<Payload> {
  return {
    ...rule,
    check: async (ctx, tx, payload) => {
      const { payout, ...concern } = await rule.check(ctx, tx, payload)
      return { ...concern, recipients: [...concern.recipients, ...(await payoutRecipients(tx, payout))] }
    },
  }
}

/** A proposal as the contract parsed it. */
export function proposalOf<Kind extends ApprovalKind>(
  ctx: HandlerContext,
  kind: Kind,
  payload: ApprovalPayload<Kind>,
): Proposal {
  const { observe, check, execute } = KINDS[kind]
  return {
    kind,
    payload,
    ...(observe && { observe: () => observe(ctx, payload) }),
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
