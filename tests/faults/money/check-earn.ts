import { INTEREST } from './earn.ts'
import { isRounding } from './earn-facts.ts'
import type { Checks, Facts } from './facts.ts'

type DepositRow = Facts['earn']['deposits'][number]
type WithdrawalRow = Facts['earn']['withdrawals'][number]

const NETWORK = 'base-mainnet'
const sum = (amounts: readonly (bigint | string | null)[]): bigint =>
  amounts.reduce<bigint>((all, one) => all + BigInt(one ?? 0), 0n)

const transferOf = ({ transfers }: Facts, { id }: DepositRow) =>
  transfers.filter(({ purpose, state }) => purpose === `earn_deposit:${id}` && state !== 'gone')

/** Where the money of a deposit must be. */
function wrongMoney(facts: Facts, deposit: DepositRow): string[] {
  const { id, status, network, reference, amount_micros } = deposit
  const [transfer, ...more] = transferOf(facts, deposit)
  const refund = facts.payoutOf('refund', id)
  const inEscrow = facts.holds('escrow', network, `earn_deposit:${id}`)
  const isClaimed =
    more.length === 0 && transfer?.reference === reference && transfer.due_micros === amount_micros
  const isRefunded = refund?.amount_micros === amount_micros && refund.payee === transfer?.payer
  const isRight: Readonly<Record<string, boolean>> = {
    active: isClaimed && refund === undefined && inEscrow === 0n,
    refunded: isClaimed && isRefunded && inEscrow === 0n,
    held: isClaimed && refund === undefined && inEscrow === amount_micros,
    failed: transfer === undefined && refund === undefined && inEscrow === 0n,
  }
  return isRight[status] === true
    ? []
    : [
        `${id} is ${status}: ${transfer?.purpose} ${transfer?.state}, refund ${refund?.id}, escrow ${inEscrow}`,
      ]
}

/** What each holder paid and got, by the rows that the worker wrote. */
const holdersOf = ({ earn: { deposits, withdrawals, positions } }: Facts) =>
  [...new Set([...deposits, ...withdrawals, ...positions].map(({ holder }) => holder))].map((holder) => {
    const active = deposits.filter((one) => one.holder === holder && one.status === 'active')
    const burned = withdrawals.filter((one) => one.holder === holder)
    return {
      holder,
      principal: sum(active.map(({ amount_micros }) => amount_micros)),
      minted: sum(active.map(({ shares }) => shares)),
      paid: sum(burned.map(({ paid_micros }) => paid_micros)),
      burned: sum(burned.map(({ burned_shares }) => burned_shares)),
      shares: sum(positions.filter((one) => one.holder === holder).map(({ shares }) => shares)),
    }
  })

/** Each part of a withdrawal is one payout to the wallet that paid the deposit, and all parts are the amount. */
function wrongPayouts({ payouts, earn, transfers }: Facts, withdrawal: WithdrawalRow): string[] {
  const { id, status, holder, paid_micros, filled_micros } = withdrawal
  if (status === 'rejected') return []
  const fills = earn.fills.filter(({ withdrawal_id }) => withdrawal_id === id)
  const paid = payouts.filter(
    ({ kind, subject }) => kind === 'earn_withdrawal' && subject.startsWith(`${id}:`),
  )
  const own = earn.deposits.filter((one) => one.holder === holder).map((one) => `earn_deposit:${one.id}`)
  const payers = transfers.filter(({ purpose }) => own.includes(purpose)).map(({ payer }) => payer)
  const isOnce =
    status === 'settled' &&
    sum(fills.map((fill) => fill.amount_micros)) === paid_micros &&
    filled_micros === paid_micros &&
    paid.length === fills.length &&
    sum(paid.map((payout) => payout.amount_micros)) === paid_micros &&
    paid.every(({ state, payee }) => state === 'final' && payers.includes(payee))
  return isOnce
    ? []
    : [
        `${id} (${status}) of ${paid_micros}: ${fills.length} parts, ${paid.map((one) => one.amount_micros)} paid`,
      ]
}

export const EARN_CHECKS: Checks = {
  'a deposit into Earn is active, refunded, held or failed, and its money is there': (facts) =>
    facts.earn.deposits.flatMap((deposit) => wrongMoney(facts, deposit)),

  'a holder has the shares of the own deposits, less those that were burned': (facts) =>
    holdersOf(facts)
      .filter(({ minted, burned, shares }) => minted - burned !== shares)
      .map(({ holder, ...of }) => `${holder}: ${of.minted} - ${of.burned} is not ${of.shares}`),

  'the shares of a pool are those of its holders, and the wallet has the vault’s shares': ({ earn }) =>
    earn.pools.flatMap(({ key, total_shares, venue_shares }) => {
      const held = sum(earn.positions.filter((one) => one.pool_key === key).map(({ shares }) => shares))
      return held === BigInt(total_shares) && earn.venue.shares === BigInt(venue_shares)
        ? []
        : [`${key}: ${held} of ${total_shares}, ${earn.venue.shares} of ${venue_shares} in the vault`]
    }),

  'nobody gets more out of Earn than principal and interest': (facts) => {
    const holders = holdersOf(facts)
    const out = sum(holders.map(({ paid }) => paid)) + facts.earn.venue.worth
    const most = sum(holders.map(({ principal }) => principal)) + INTEREST
    return [
      ...holders
        .filter(({ paid, principal }) => paid > principal + INTEREST)
        .map(({ holder, paid, principal }) => `${holder} got ${paid} for ${principal}`),
      ...(out > most ? [`all get ${out} of ${most}`] : []),
    ]
  },

  'a withdrawal from Earn is paid once, to the wallet that deposited': (facts) => {
    const known = new Set(facts.earn.fills.map(({ withdrawal_id, n }) => `${withdrawal_id}:${n}`))
    return [
      ...facts.earn.withdrawals.flatMap((withdrawal) => wrongPayouts(facts, withdrawal)),
      ...facts.payouts
        .filter(({ kind, subject }) => kind === 'earn_withdrawal' && !known.has(subject))
        .map(({ id, subject }) => `${id} pays ${subject}`),
    ]
  },

  'every move to the venue was paid once': ({ payouts, earn }) =>
    earn.moves.flatMap(({ id, kind, amount_micros, state }) => {
      const paid = payouts.filter((one) => one.kind === 'move_to_venue' && one.subject === id)
      const isRight =
        kind === 'deploy' ? paid.length === 1 && paid[0]?.amount_micros === amount_micros : paid.length === 0
      return isRight ? [] : [`${id} (${kind} ${state}) has ${paid.length} payouts`]
    }),

  'the vault pays what depositors did not get': ({ earn, holds }) => {
    const active = earn.deposits.filter(({ shares }) => shares !== null)
    const [paidIn, out] = [
      sum(active.map((one) => one.amount_micros)),
      sum(earn.withdrawals.map((one) => one.paid_micros)),
    ]
    const due = paidIn - out - holds('venue', NETWORK)
    const kept = earn.venue.chain - due
    // Interest is paid once, when the vault has depositors.
    return isRounding(kept) || isRounding(kept - INTEREST) ? [] : [`${earn.venue.chain} instead of ${due}`]
  },

  'a transfer is an order’s payment or one deposit': ({ orders, earn }) => {
    const used = [
      ...orders.map(({ payment_network: network, payment_reference: reference }) => ({ network, reference })),
      ...earn.deposits.filter(({ status }) => status !== 'failed'),
    ].filter(({ reference }) => reference !== null)
    const groups = Map.groupBy(used, ({ network, reference }) => `${network} ${reference}`)
    return [...groups].filter(([, some]) => some.length > 1).map(([name]) => name)
  },

  'every acknowledged deposit is recorded': ({ testOrders, earn }) =>
    testOrders.flatMap(({ acknowledged, buyer, deposit }) =>
      acknowledged
        .filter(({ action, status }) => action === 'deposit' && status < 300)
        .filter(
          ({ reference }) =>
            !earn.deposits.some(
              (one) =>
                one.reference === reference &&
                one.holder === `wallet:${buyer.key}` &&
                one.amount_micros === deposit?.amount,
            ),
        )
        .map(({ reference }) => `${reference} of ${buyer.key}`),
    ),
}
