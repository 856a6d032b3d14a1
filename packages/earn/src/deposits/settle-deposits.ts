import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { pool as equityAccount, postNew, venue as venueAccount } from '@market/money/ledger'
import { escrowAccount } from '@market/money/payments'
import { deleteSpent, payoutIdOf } from '@market/money/payouts'
import {
  addVenueShares,
  type EarnContext,
  findPool,
  isConfiguredAs,
  isCurrent,
  lockPool,
  mintShares,
  type Pool,
  revalue,
  sharesFor,
} from '../pools/index.ts'
import {
  findVenueTransfer,
  isBeingRecalled,
  lockVenueTransfer,
  type VenueTransfer,
  venueTransferAccount,
} from '../venue-transfers/index.ts'
import { deployDeposits } from './deploy-deposits.ts'
import { type Deposit, purposeOf } from './deposit.ts'
import { notifyHolder } from './notify-holder.ts'
import { holdDeposit, refundDeposit } from './refund-deposit.ts'
import { findBusyPools, findHeldVenueTransfers, lockOfVenueTransfer, saveDeposit } from './store.ts'

/** Advances all deposits. Several workers can call it at once. An error with one pool does not stop the others. */
export async function settleDeposits(ctx: EarnContext): Promise<void> {
  const [busy, held] = [await findBusyPools(ctx.db), await findHeldVenueTransfers(ctx.db)]
  const moves = [...new Set([...busy.flatMap(({ venueTransferId }) => venueTransferId ?? []), ...held])]
  const keys = [
    ...new Set(busy.flatMap(({ key, venueTransferId }) => (venueTransferId === null ? [key] : []))),
  ]
  const done = await Promise.allSettled([
    ...moves.map((id) => settleVenueTransfer(ctx, id)),
    ...keys.map((key) => deployDeposits(ctx, key)),
  ])
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some deposits were not advanced')
}

/** Gives shares for a move that is done, and refunds or holds the deposits of one that is not. */
async function settleVenueTransfer(ctx: EarnContext, id: string): Promise<void> {
  const move = await findVenueTransfer(ctx.db, id)
  assert(move !== undefined, `${id} is a venue transfer`)
  if (move.state === 'done') return mint(ctx, move)
  if (move.state === 'failed' || move.state === 'held')
    await transact(ctx.db, async (tx) => {
      await lockPool(tx, move.poolKey)
      const { state, problem } = await lockVenueTransfer(tx, move.id)
      // The money is back, so that each deposit can be paid from its transfer again.
      if (state === 'failed') await deleteSpent(tx, payoutIdOf('move_to_venue', move.id))
      const why = problem ?? 'The venue did not take the deposit'
      for (const deposit of await lockOfVenueTransfer(tx, move.id)) {
        if (state === 'failed' && isUndecided(deposit)) await refundDeposit(ctx, tx, deposit, why)
        if (state === 'held' && isDeploying(deposit)) await holdDeposit(ctx, tx, deposit, why)
      }
    })
}

const isDeploying = ({ status }: Deposit): boolean => status === 'deploying'

const isUndecided = ({ status }: Deposit): boolean => status === 'deploying' || status === 'held'

/**
 * The vault's shares of the receipt are worth as much as those that the pool has, so both are valued at the same block, and
 * each depositor gets the part of the pool that the deposit is worth then. What the venue kept is the depositor's loss.
 */
async function mint(ctx: EarnContext, move: VenueTransfer): Promise<void> {
  const [pool, venue] = [await findPool(ctx.db, move.poolKey), ctx.venues[move.poolKey]]
  // Another vault says nothing about the shares of this one.
  if (pool === undefined || venue === undefined || !isConfiguredAs(pool, venue)) return
  const received = move.venueShares ?? 0n
  const waiting = (await transact(ctx.db, (tx) => lockOfVenueTransfer(tx, move.id))).filter(isDeploying)
  // What is held of a move that is done has no shares to get.
  if (waiting.length === 0) return
  const parts = waiting.map(({ id, amount }) => ({ id, venueShares: (received * amount) / move.amount }))
  const at = ctx.clock.now()
  const values = await venue.valuesOf([pool.venueShares, ...parts.map((part) => part.venueShares)])
  const [value] = values
  assert(value !== undefined, 'the venue values what it is asked for')
  const valueById = new Map(parts.map(({ id }, n) => [id, values[n + 1]]))
  await transact(ctx.db, async (tx) => {
    const locked = await lockPool(tx, pool.key)
    // A held recall may have redeemed shares that the pool still counts.
    if (await isBeingRecalled(tx, pool.key)) return
    const deposits = (await lockOfVenueTransfer(tx, move.id)).filter(isDeploying)
    // Another worker was first, or something else changed the pool: the next sweep reads again.
    if (deposits.length === 0 || !isCurrent(locked, { shares: pool.venueShares, at }, ctx.clock.now())) return
    const valuation = await revalue(ctx, tx, locked, value)
    // What is missing to others would be taken from these: they wait until the venue covers what is owed.
    if (valuation.missing > 0n) return
    let { equity } = valuation
    for (const deposit of deposits) {
      const worth = valueById.get(deposit.id)
      assert(worth !== undefined, `${deposit.id} was valued`)
      const shares = sharesFor(worth, equity)
      await give(ctx, tx, { pool: locked, move, deposit, worth, shares })
      equity = { micros: equity.micros + worth, shares: equity.shares + shares }
    }
    await addVenueShares(tx, pool.key, received)
  })
}

interface Minted {
  readonly pool: Pool
  readonly move: VenueTransfer
  readonly deposit: Deposit
  readonly worth: Usdc
  readonly shares: bigint
}

async function give(ctx: EarnContext, tx: Tx, { pool, move, deposit, worth, shares }: Minted): Promise<void> {
  const { network, key } = pool
  const { id, holder, amount } = deposit
  if (shares === 0n) return holdDeposit(ctx, tx, deposit, 'The venue gave nothing for it')
  const now = ctx.clock.now()
  await postNew(ctx, tx, {
    key: `earn.minted:${id}`,
    reason: 'earn.minted',
    subject: id,
    network,
    moves: [
      { from: escrowAccount(network, purposeOf(deposit)), to: venueTransferAccount(move), amount },
      { from: venueAccount(network, key), to: equityAccount(network, key), amount: worth },
    ],
  })
  await mintShares(tx, { poolKey: key, holder, shares, principal: amount }, now)
  await saveDeposit(tx, deposit, { status: 'active', shares, value: worth }, now)
  await notifyHolder(ctx, tx, deposit, {
    kind: 'earn.deposit_active',
    title: `Your deposit of ${formatUsd(amount)} USDC earns now`,
    body: `It is in ${key}. GET /api/earn/pool/positions shows what it is worth.`,
  })
}
