import type { VenueReading } from '@market/core/ports/venue'
import { type Db, type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { earlier, MINUTE } from '@market/kernel/clock'
import { minPayoutOn } from '@market/money/payouts'
import { findOpenVenueTransfers } from '../deposits/index.ts'
import {
  addRecalled,
  afterLoss,
  bearLoss,
  type EarnContext,
  findPool,
  isConfiguredAs,
  isCurrent,
  lockPool,
  type Pool,
  pricedReading,
  readVenue,
  recallParts,
  requireWholeHistory,
  valueOfVaultShares,
  vaultSharesOf,
} from '../pools/index.ts'
import { findRecall, findVenueTransfer, requestRecall } from '../venue-transfers/index.ts'
import { hasOpenParts, insertRecallPart } from './recalls/store.ts'
import { changeWithdrawal, findQueued } from './store.ts'
import { isPayable, SMALLEST_PART, type Withdrawal } from './withdrawal.ts'

/** A recall of less than all that is wanted costs the same gas, and so does one that reverted: the next one comes after this time. */
const PAUSE_MS = 10 * MINUTE

/** A vault that pays for everything can round its last share away. What is worth so little is nobody's, so that nothing stays open. */
const MOST_ROUNDED = 10n

/** Redeems what the open withdrawals of a pool want, or as much as the vault pays now: then each gets the same fraction. */
export async function beginRecall(ctx: EarnContext, key: string): Promise<void> {
  const { db, venues, clock } = ctx
  const [known, venue] = [await findPool(db, key), venues[key]]
  if (known === undefined || venue === undefined || !isConfiguredAs(known, venue)) return
  if (known.queuedShares === 0n || !(await mayBegin(db, known))) return
  const reading = await readVenue(ctx, venue, known)
  await requireWholeHistory(ctx, venue, reading)
  const pool = { ...known, reading: pricedReading(reading) }
  const wanted = await findWanted(ctx, db, pool)
  if (wanted.length === 0) return
  const whole = wholeOf(pool, wanted, reading)
  const redeemable = await venue.redeemable(whole)
  if (redeemable.shares === 0n) return
  const isWhole = valueOfVaultShares(whole - redeemable.shares, pool.reading.price) <= MOST_ROUNDED
  if (!isWhole && redeemable.assets < SMALLEST_PART) return
  if (await isTooSoon(ctx, key, isWhole)) return
  await transact(db, async (tx) => {
    const locked = await lockPool(tx, key)
    if (!isCurrent(locked, reading, clock.now()) || !(await mayBegin(tx, locked))) return
    const open = await findWanted(ctx, tx, { ...locked, reading: pool.reading })
    // Something changed the withdrawals meanwhile: the next sweep reads again.
    if (wholeOf(locked, open, reading) !== whole) return
    const left = await bearLoss(tx, locked, reading.held)
    assert(left.ratio !== null, `${key} has shares of its vault`)
    const recall = await requestRecall(ctx, tx, left, redeemable.shares)
    if (recall === undefined) return
    const parts = recallParts(
      open.map(({ openShares }) => openShares),
      { redeemed: isWhole ? whole : redeemable.shares, whole },
      left.ratio,
    )
    for (const [n, { id }] of open.entries()) {
      const shares = parts[n] ?? 0n
      await insertRecallPart(tx, recall.id, { withdrawalId: id, shares })
      await changeWithdrawal(tx, id, { open: -shares, recalled: shares }, clock.now())
    }
    await addRecalled(tx, key, { vaultShares: -redeemable.shares, shares: -sum(parts) })
  })
}

const sum = (all: readonly bigint[]): bigint => all.reduce((total, one) => total + one, 0n)

/** One recall at a time, none before deposits have their shares, and none while a receipt is not understood. */
async function mayBegin(tx: Db | Tx, { key, paused }: Pool): Promise<boolean> {
  if (paused === 'held' || paused === 'wallet') return false
  const last = await findRecall(tx, key)
  // One that has ended gives back or pays its parts first.
  if (last?.state === 'withdrawing' || (last !== undefined && (await hasOpenParts(tx, last.id)))) return false
  // fix: mint-before-recall
  if (await isBeingMinted(tx, key)) return false
  return true
}

/** Whether the wallet has, or gets at any moment, vault shares of deposits that have no shares yet. */
async function isBeingMinted(tx: Db | Tx, key: string): Promise<boolean> {
  const ids = await findOpenVenueTransfers(tx, key)
  const transfers = await Promise.all(ids.map((id) => findVenueTransfer(tx, id)))
  return transfers.some((transfer) => transfer?.state === 'done' || transfer?.state === 'depositing')
}

async function isTooSoon({ db, clock }: EarnContext, key: string, isWhole: boolean): Promise<boolean> {
  const last = await findRecall(db, key)
  const isRecent = last !== undefined && last.createdAt > earlier(clock.now(), PAUSE_MS)
  return isRecent && (!isWhole || last.state === 'failed')
}

/** Those with open shares that can be paid. What is worth less than a payout stays in the pool, and gains and loses with it. */
const findWanted = async (ctx: EarnContext, tx: Db | Tx, pool: Pool): Promise<Withdrawal[]> =>
  (await findQueued(tx, { poolKey: pool.key })).filter(
    (one) => one.openShares > 0n && isPayable(one, pool, minPayoutOn(ctx, pool.network)),
  )

/** The vault's shares behind the withdrawals, of what the wallet really holds. */
const wholeOf = (pool: Pool, wanted: readonly Withdrawal[], { held }: VenueReading): bigint =>
  vaultSharesOf(sum(wanted.map(({ openShares }) => openShares)), afterLoss(pool, held).ratio)
