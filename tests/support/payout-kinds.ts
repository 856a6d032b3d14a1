import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { payoutKinds } from '@market/jobs/payout-kinds'
import type { Payout, PayoutKinds, PayoutRule } from '@market/money/payouts'

type Terms = PayoutRule['terms']

/** The rules of all kinds, with other terms. */
export function withTerms(kinds: PayoutKinds, termsOf: (known: Terms) => Terms): PayoutKinds {
  const rules = Object.entries(kinds).map(([kind, rule]) => [kind, { ...rule, terms: termsOf(rule.terms) }])
  return Object.fromEntries(rules) as PayoutKinds
}

/** The rules of all kinds, without venues. */
export const KINDS = payoutKinds({})

/** What a payout must be, where fees go nowhere. */
export const termsOf = (ctx: Needs<'clock' | 'chains'>, tx: Tx, payout: Payout) =>
  KINDS[payout.kind].terms(
    { ...ctx, feeAddresses: { 'solana-mainnet': [], 'base-mainnet': [], 'alt-mainnet': [] } },
    tx,
    payout,
  )

/** What was requested is what is due. */
const accepting =
  (known: Terms): Terms =>
  async (ctx, tx, payout) =>
    (await known(ctx, tx, payout)) ?? {
      network: payout.network,
      amount: payout.amount,
      payees: payout.payee === null ? [] : [payout.payee],
    }

const ACCEPTED = withTerms(KINDS, accepting)

/** For tests whose payouts belong to no order. */
export const ACCEPTING_KINDS: PayoutKinds = {
  ...KINDS,
  payout: ACCEPTED.payout,
  refund: ACCEPTED.refund,
  move_to_venue: ACCEPTED.move_to_venue,
}
