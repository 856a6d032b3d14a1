import type { Needs } from '@market/core/context'
import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutSender } from '@market/core/ports/payout-sender'
import { isStopped, payoutSwitches, rejectWhileStopped } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { isPaymentFinal } from '../payments/index.ts'
import { fundingHold, recordSpending } from './funding-hold.ts'
import { findGuard } from './guards/store.ts'
import { contestHold, type Hold } from './hold.ts'
import { decideCaps } from './limits/caps.ts'
import { gasBudgetHold } from './limits/gas-budget.ts'
import { saveCost, saveOpenedAccount } from './limits/store.ts'
import { decideAccount } from './limits/token-account.ts'
import { closedBy, type Guard, isCompared, isReadSince } from './outgoing/guard.ts'
import { countExplained } from './outgoing/store.ts'
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
} from './store.ts'

/**
 * Authorizes a payout or holds it. Guard, switches, caps, balance and nonce are one decision of one transaction: after
 * the request that turns a freeze on has returned, no further payout is authorized.
 */
export async function authorizePayout(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
  cost: Cost,
): Promise<Payout> {
  const { id, network } = payout
  const hasCounter = (await findNonceCounter(ctx.db, network)) !== undefined
  const [nonces, final, balance] = await Promise.all([
    sender.nonces(),
    hasCounter ? null : sender.finalNonce(),
    agreedBalance(sender),
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
      const early = await earlyHold(ctx, tx, locked, guard)
      if (early !== undefined) return saveHold(tx, locked, early, ctx.clock.now())
      const caps = await decideCaps(ctx, tx, locked)
      if (caps.hold !== undefined) return saveHold(tx, locked, caps.hold, ctx.clock.now())
      const account = await decideAccount(ctx, tx, locked, cost.createsAccount)
      if (account.hold !== undefined) return saveHold(tx, locked, account.hold, ctx.clock.now())
      const hold =
        (await gasBudgetHold(ctx, tx, network, cost.native)) ?? (await balanceHold(tx, locked, balance))
      if (hold !== undefined) return saveHold(tx, locked, hold, ctx.clock.now())
      const change = { countsAgainstCaps: caps.counts, opensAccount: account.opens, cost: cost.native }
      if (nonces === null || locked.nonce !== null) return saveAuthorized(ctx, tx, locked, change)
      const facts = { guard, treasury: sender.treasury, counted: nonces.pending, final }
      return assignNonce(ctx, tx, locked, facts, change)
    })
  } catch (error) {
    const frozen = error instanceof ApiError ? freezeHold(network, error.extra.code) : undefined
    if (frozen === undefined) throw error
    return holdPayout(ctx, payout, frozen)
  }
}

/** The hold of the switch that rejected it; undefined when the error has another cause. */
export function freezeHold(network: Network, code: string | undefined): Hold | undefined {
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

/** What sending the payout costs now. */
type Cost = Awaited<ReturnType<PayoutSender['estimateCost']>>

/** Reads the chain, so it runs outside a transaction. */
export async function checkCost(
  ctx: PayoutContext,
  sender: PayoutSender,
  payout: Payout,
): Promise<{ hold: Hold } | { hold?: never; cost: Cost }> {
  const [cost, balance] = await Promise.all([
    sender.estimateCost(senderRequestOf(payout)),
    sender.nativeBalance(),
  ])
  const { native } = cost
  const cap = ctx.caps.cost[payout.network]
  if (cap !== undefined && native > cap)
    return { hold: { code: 'fee_above_cap', detail: `${native}, the cap is ${cap}` } }
  return balance < native ? { hold: { code: 'fee_balance_low' } } : { cost }
}

/**
 * Why a payout waits, as far as the database knows. A node is asked only about a payout that this lets through, so that
 * many held payouts do not delay others. `authorizePayout` decides again under the lock.
 */
export async function findHold(ctx: PayoutContext, payout: Payout): Promise<Hold | undefined> {
  const { network } = payout
  const guard = await findGuard(ctx.db, network)
  return transact(ctx.db, async (tx) => {
    for (const name of payoutSwitches(network))
      if (await isStopped(tx, [name])) return freezeHold(network, name)
    return (
      (await earlyHold(ctx, tx, payout, guard)) ??
      (await decideCaps(ctx, tx, payout)).hold ??
      gasBudgetHold(ctx, tx, network)
    )
  })
}

/** Why the payout may not be sent now, whatever else is paid. */
const earlyHold = async (
  ctx: PayoutContext,
  tx: Tx,
  payout: Payout,
  guard: Guard | undefined,
): Promise<Hold | undefined> =>
  (await fundingHold(ctx, tx, payout)) ??
  contestHold(payout, ctx.clock.now()) ??
  (await paymentHold(tx, payout)) ??
  closedBy(guard)

/** A payment that the chain can still reverse funds no payout. */
const paymentHold = async (tx: Tx, { purpose }: Payout): Promise<Hold | undefined> =>
  purpose === null || (await isPaymentFinal(tx, purpose)) ? undefined : { code: 'payment_not_final' }

const agreedBalance = (sender: PayoutSender): Promise<Usdc | TooFewProviders> =>
  sender.usdcBalance().catch((error: unknown) => {
    if (error instanceof TooFewProviders) return error
    throw error
  })

/**
 * The treasury must hold this payout and all that are authorized and not final. A payout that has left the treasury and
 * is not final yet is counted twice for a moment, which only delays the next one.
 */
async function balanceHold(
  tx: Tx,
  payout: Payout,
  balance: Usdc | TooFewProviders,
): Promise<Hold | undefined> {
  if (balance instanceof TooFewProviders) return { code: 'providers_disagree', detail: balance.message }
  const authorized = await sumAuthorized(tx, payout.network)
  if (balance >= authorized + payout.amount) return undefined
  const detail = `it holds ${formatUsd(balance)}, of which ${formatUsd(authorized)} is for authorized payouts`
  return { code: 'balance_low', detail }
}

interface Authorization {
  readonly countsAgainstCaps: boolean
  readonly opensAccount: boolean
  readonly cost: bigint
  readonly nonce?: bigint
}

async function saveAuthorized(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
  { cost, ...change }: Authorization,
): Promise<Payout> {
  const now = ctx.clock.now()
  const { agentId, payee } = payout
  await saveCost(tx, payout, cost, now)
  await recordSpending(tx, payout)
  if (change.opensAccount) {
    assert(agentId !== null && payee !== null, `${payout.id} pays an agent`)
    await saveOpenedAccount(tx, { ...payout, payee }, agentId, now)
  }
  return savePayout(tx, payout, 'authorize', change, now)
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
async function assignNonce(
  ctx: Needs<'clock'>,
  tx: Tx,
  payout: Payout,
  facts: ChainFacts,
  change: Authorization,
): Promise<Payout> {
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
    const isHeld = payout.holdCode === 'history_unread' && payout.holdDetail === detail
    if (!isHeld || payout.heldAtReading === null) {
      const hold = { code: 'history_unread', detail } as const
      return savePayout(tx, payout, 'hold', { hold, heldAtReading: guard.readingsBegun }, now)
    }
    // They were final before the hold, so a reading that began after it has shown all of them that are payouts.
    if (!isReadSince(guard, payout)) return payout
  }
  await saveNonceCounter(tx, network, { treasury, next: nonce + 1n })
  return saveAuthorized(ctx, tx, payout, { ...change, nonce })
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
