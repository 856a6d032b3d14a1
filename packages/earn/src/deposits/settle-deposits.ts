import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { formatUsd, minus, type Usdc, usdc } from '@market/kernel/money'
import { type Account, postNew } from '@market/money/ledger'
import { escrowAccount } from '@market/money/payments'
import { deleteSpent, payoutIdOf } from '@market/money/payouts'
import {
  bearLoss,
  findPool,
  firstRatio,
  isConfiguredAs,
  isCurrent,
  isEmpty,
  lockPool,
  type MoneyContext,
  minted,
  mintShares,
  pricedReading,
  type Ratio,
  readVenue,
  requireWholeHistory,
  saveReading,
  saveVaultShares,
  valueOfShares,
} from '../pools/index.ts'
import {
  findVenueTransfer,
  isBeingRecalled,
  lockVenueTransfer,
  type VenueTransfer,
  venueTransferAccount,
} from '../venue-transfers/index.ts'
import { deployDeposits } from './deploy-deposits.ts'
import { purposeOf } from './deposit.ts'
import { notifyHolder } from './notify-holder.ts'
import { holdDeposit, refundDeposit } from './refund-deposit.ts'
import {
  deleteParts,
  findBusyPools,
  findOpenVenueTransfers,
  lockParts,
  type Part,
  saveDeposit,
  saveMinted,
} from './store.ts'

/** Advances all deposits. Several workers can call it at once. An error with one pool does not stop the others. */
export async function settleDeposits(ctx: MoneyContext): Promise<void> {
  // Both are read before the first one begins: an error of one that nobody waits for yet would end the worker.
  const [transfers, pools] = [await findOpenVenueTransfers(ctx.db), await findBusyPools(ctx.db)]
  const done = await Promise.allSettled([
    ...transfers.map((id) => settleVenueTransfer(ctx, id)),
    ...pools.map((key) => deployDeposits(ctx, key)),
  ])
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some deposits were not advanced')
}

/** Gives shares for a venue transfer that is done, and refunds or holds the deposits of one that is not. */
async function settleVenueTransfer(ctx: MoneyContext, id: string): Promise<void> {
  const transfer = await findVenueTransfer(ctx.db, id)
  assert(transfer !== undefined, `${id} is a venue transfer`)
  if (transfer.state === 'done') return mint(ctx, transfer)
  if (transfer.state !== 'failed' && transfer.state !== 'held') return
  await transact(ctx.db, async (tx) => {
    await lockPool(tx, transfer.poolKey)
    const { state, problem } = await lockVenueTransfer(tx, transfer.id)
    const why = problem ?? 'The venue did not take the deposit'
    const parts = await lockParts(tx, transfer.id)
    if (state === 'held') for (const { deposit } of parts) await holdDeposit(ctx, tx, deposit, why)
    if (state !== 'failed') return
    // The money is back, so that each deposit can be paid from its transfer again.
    await deleteSpent(tx, payoutIdOf('move_to_venue', transfer.id))
    await deleteParts(tx, transfer.id)
    for (const { deposit, amount } of parts)
      await refundDeposit(ctx, tx, { ...deposit, moved: minus(deposit.moved, amount) }, why)
  })
}

/**
 * The vault's shares of the receipt belong to those who paid for them: each gets as many shares of the pool as stand for its part.
 * What the vault kept is the depositor's loss.
 */
async function mint(ctx: MoneyContext, transfer: VenueTransfer): Promise<void> {
  const [pool, venue] = [await findPool(ctx.db, transfer.poolKey), ctx.venues[transfer.poolKey]]
  // Another vault says nothing about the shares of this one.
  if (pool === undefined || venue === undefined || !isConfiguredAs(pool, venue)) return
  const received = transfer.venueShares ?? 0n
  const reading = await readVenue(ctx, venue, { venueShares: pool.venueShares + received })
  await requireWholeHistory(ctx, venue, reading)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPool(tx, pool.key)
    const parts = await lockParts(tx, transfer.id)
    const isFresh = isCurrent(locked, { at: reading.at, shares: pool.venueShares }, ctx.clock.now())
    // Another worker was first, something else changed the pool, or it is not known what a recall took.
    if (parts.length === 0 || !isFresh || (await isBeingRecalled(tx, pool.key))) return
    const before = reading.held > received ? reading.held - received : 0n
    const whole = await bearLoss(tx, locked, before)
    const ratio =
      isEmpty(whole) || whole.ratio === null ? firstRatio(received, amountOf(transfer)) : whole.ratio
    for (const part of parts)
      await give(ctx, tx, { transfer, received, ratio, price: pricedReading(reading).price }, part)
    // Of an empty pool, what rounding left is nobody's.
    const venueShares = (isEmpty(whole) ? 0n : whole.venueShares) + received
    await saveVaultShares(tx, pool.key, venueShares, ratio)
    await saveReading(tx, pool.key, pricedReading({ ...reading, shares: venueShares }), locked.paused)
  })
}

const amountOf = ({ id, amount }: VenueTransfer): Usdc => {
  assert(amount !== null, `${id} is a deploy`)
  return amount
}

interface Receipt {
  readonly transfer: VenueTransfer
  readonly received: bigint
  readonly ratio: Ratio
  readonly price: Parameters<typeof valueOfShares>[2]
}

async function give(ctx: MoneyContext, tx: Tx, receipt: Receipt, { deposit, amount }: Part): Promise<void> {
  const { transfer, received, ratio, price } = receipt
  const { network, poolKey } = transfer
  const { id, holder } = deposit
  const shares = minted(received, amount, amountOf(transfer), ratio)
  await saveMinted(tx, transfer.id, deposit, shares)
  if (shares === 0n) return holdDeposit(ctx, tx, deposit, 'The venue gave nothing for it')
  const [now, worth] = [ctx.clock.now(), valueOfShares(shares, ratio, price)]
  const from: Account = escrowAccount(network, purposeOf(deposit))
  await postNew(ctx, tx, {
    key: `earn.minted:${transfer.id}:${id}`,
    reason: 'earn.minted',
    subject: id,
    network,
    moves: [{ from, to: venueTransferAccount(transfer), amount }],
  })
  await mintShares(tx, { poolKey, holder, shares, principal: amount }, now)
  const [all, value] = [(deposit.shares ?? 0n) + shares, usdc((deposit.value ?? 0n) + worth)]
  const isWhole = deposit.moved === deposit.amount
  await saveDeposit(tx, deposit, { status: isWhole ? 'active' : 'deploying', shares: all, value }, now)
  if (!isWhole) return
  await notifyHolder(ctx, tx, deposit, {
    kind: 'earn.deposit_active',
    title: `Your deposit of ${formatUsd(deposit.amount)} USDC earns now`,
    body: `It is in ${poolKey}. GET /api/earn/pool/positions shows what it is worth.`,
  })
}
