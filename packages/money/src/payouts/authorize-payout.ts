import type { Needs } from '@market/core/context'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import { payoutSwitches, rejectWhileStopped } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { DAY, earlier } from '@market/kernel/clock'
import { formatUsd, plus, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { isPaymentFinal } from '../payments/index.ts'
import type { Hold } from './hold.ts'
import { closedBy, type Guard, isCompared } from './outgoing/guard.ts'
import { countExplained, findGuard } from './outgoing/store.ts'
import { isWaiting, type Payout, senderRequestOf } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { recoverPayout } from './recover-payout.ts'
import {
  findNonceCounter,
  lockNetwork,
  lockPayout,
  type NonceCounter,
  saveHold,
  saveNonceCounter,
  savePayout,
  sumAuthorized,
  sumSentSince,
} from './store.ts'

/**
 * Authorizes a payout or holds it. Guard, switches, caps, balance and nonce are one decision of one transaction: after
 * the request that turns a freeze on has returned, no further payout is authorized.
 */
export async function authorizePayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<Payout> {
  const { id, network } = payout
  const hasCounter = (await findNonceCounter(ctx.db, network)) !== undefined
  const [nonces, final, balance] = await Promise.all([
    sender.nonces(),
    hasCounter ? null : sender.finalNonce(),
    sender.usdcBalance(),
  ])
  try {
    return await transact(ctx.db, async (tx) => {
      const locked = await lockPayout(tx, id)
      if (!isWaiting(locked)) return locked
      await lockNetwork(tx, network)
      const guard = await findGuard(tx, network, 'shared')
      if (!isCompared(guard)) return saveHold(tx, locked, { code: 'not_compared' }, ctx.clock.now())
      // A recovered payout sends nothing, so neither a freeze nor a shortage stops it; it may explain the shortage.
      const recovered = await recoverPayout(ctx, tx, locked)
      if (recovered !== undefined) return recovered
      await rejectWhileStopped(tx, payoutSwitches(network))
      const hold =
        timeHold(locked, ctx.clock.now()) ??
        (await paymentHold(tx, locked)) ??
        closedBy(guard) ??
        (await capHold(ctx, tx, locked)) ??
        (await balanceHold(tx, locked, balance))
      if (hold !== undefined) return saveHold(tx, locked, hold, ctx.clock.now())
      return nonces === null
        ? savePayout(tx, locked, 'authorize', {}, ctx.clock.now())
        : assignNonce(ctx, tx, locked, { guard, treasury: sender.treasury, counted: nonces.pending, final })
    })
  } catch (error) {
    const frozen = error instanceof ApiError ? freezeHold(network, error.extra.code) : undefined
    if (frozen === undefined) throw error
    return holdPayout(ctx, payout, frozen)
  }
}

/** The hold of the switch that rejected it; undefined when the error has another cause. */
function freezeHold(network: Network, code: string | undefined): Hold | undefined {
  const [all, own] = payoutSwitches(network)
  if (code === all) return { code: 'payouts_frozen' }
  return code === own ? { code: 'network_frozen', detail: network } : undefined
}

export async function holdPayout(ctx: PayoutContext, payout: Payout, hold: Hold): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    return isWaiting(locked) ? saveHold(tx, locked, hold, ctx.clock.now()) : locked
  })
}

/** Reads the chain, so it runs outside a transaction. */
export async function feeHold(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<Hold | undefined> {
  const [{ native }, balance] = await Promise.all([
    sender.estimateCost(senderRequestOf(payout)),
    sender.nativeBalance(),
  ])
  const cap = ctx.caps.cost[payout.network]
  if (cap !== undefined && native > cap)
    return { code: 'fee_above_cap', detail: `${native}, the cap is ${cap}` }
  return balance < native ? { code: 'fee_balance_low' } : undefined
}

/** Money that another user may still claim waits until the time for that is over. */
export const timeHold = ({ notBefore }: Payout, now: Date): Hold | undefined =>
  notBefore === null || notBefore <= now
    ? undefined
    : { code: 'not_before', detail: `not before ${notBefore.toISOString()}` }

/** A payment that the chain can still reverse funds no payout. */
const paymentHold = async (tx: Tx, { purpose }: Payout): Promise<Hold | undefined> =>
  purpose === null || (await isPaymentFinal(tx, purpose)) ? undefined : { code: 'payment_not_final' }

/** Runs under the network's lock, so that two payouts cannot use the same rest of the daily cap. */
async function capHold(ctx: PayoutContext, tx: Tx, payout: Payout): Promise<Hold | undefined> {
  const { perPayout, perDay } = ctx.caps
  if (payout.amount > perPayout) return { code: 'payout_cap', detail: `${formatUsd(perPayout)} USDC` }
  const sent = await sumSentSince(tx, payout.network, earlier(ctx.clock.now(), DAY))
  if (plus(sent, payout.amount) > perDay) return { code: 'daily_cap', detail: `${formatUsd(perDay)} USDC` }
  return undefined
}

/**
 * The treasury must hold this payout and all that are authorized and not final. A payout that has left the treasury and
 * is not final yet is counted twice for a moment, which only delays the next one.
 */
async function balanceHold(tx: Tx, payout: Payout, balance: Usdc): Promise<Hold | undefined> {
  const authorized = await sumAuthorized(tx, payout.network)
  if (balance >= authorized + payout.amount) return undefined
  const detail = `it holds ${formatUsd(balance)}, of which ${formatUsd(authorized)} is for authorized payouts`
  return { code: 'balance_low', detail }
}

interface ChainFacts {
  readonly guard: Guard
  readonly treasury: string
  /** How many transactions of the treasury the chain counts, including those that are not mined yet. */
  readonly counted: bigint
  /** How many of them are final; only read when the database has no nonce counter. */
  readonly final: bigint | null
}

/**
 * A payout has one nonce per round. Only this function assigns nonces, so a chain that counts more transactions has
 * transactions that the database does not know. Those that were read from the chain and belong to payouts, or were
 * written off, are explained; for any other, payouts wait until an operator has explained it.
 */
async function assignNonce(ctx: Needs<'clock'>, tx: Tx, payout: Payout, facts: ChainFacts): Promise<Payout> {
  const { network } = payout
  const { treasury, counted, guard } = facts
  const now = ctx.clock.now()
  const known = await findNonceCounter(tx, network)
  const counter = known ?? firstCounter(facts)
  assert(counter.treasury === treasury, `${network} is paid from ${counter.treasury}`)
  if (!(await isExplained(tx, network, counter.next, counted)))
    return saveHold(tx, payout, nonceMismatch(counted, counter.next), now)
  const nonce = larger(counted, counter.next)
  if (known === undefined && !(await isExplained(tx, network, 0n, nonce))) {
    const detail = `${counter.next} final`
    if (payout.holdCode !== 'history_unread' || payout.holdDetail !== detail)
      return saveHold(tx, payout, { code: 'history_unread', detail }, now)
    // They were final before the hold, so a reading that started after it has shown all of them that are payouts.
    if (guard.readAt <= payout.updatedAt) return payout
  }
  await saveNonceCounter(tx, network, { treasury, next: nonce + 1n })
  return savePayout(tx, payout, 'authorize', { nonce }, now)
}

const nonceMismatch = (counted: bigint, next: bigint): Hold => ({
  code: 'nonce_mismatch',
  detail: `${counted} on the chain, ${next} in the ledger`,
})

/**
 * A database without a counter is new, or was restored from before the first payout. It starts at the final nonce: final
 * transactions may be older than the marketplace, but one that is not final may be a payout that the database lost.
 */
function firstCounter({ treasury, final }: ChainFacts): NonceCounter {
  assert(final !== null, 'the final nonce is read when there is no counter')
  return { treasury, next: final }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const isExplained = async (tx: Tx, network: Network, from: bigint, upTo: bigint): Promise<boolean> =>
  upTo <= from || (await countExplained(tx, network, from, upTo)) === upTo - from
