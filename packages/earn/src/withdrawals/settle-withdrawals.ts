import { type Tx, transact } from '@market/database/transact'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import { pool as equityAccount, postNew, withdrawal as withdrawalAccount } from '@market/money/ledger'
import { minPayoutOn, requestPayout } from '@market/money/payouts'
import { findDeploying, findPayers } from '../deposits/index.ts'
import {
  burnShares,
  type EarnContext,
  type Equity,
  findPool,
  findPools,
  findPosition,
  isConfiguredAs,
  isCurrent,
  lockPool,
  type Pool,
  type Position,
  readVenue,
  revalue,
  valueOfShares,
} from '../pools/index.ts'
import { findVenueTransfer, isBeingRecalled, requestRecall } from '../venue-transfers/index.ts'
import { liquidityOf } from './liquidity.ts'
import { findInStatus, insertFill, lockWithdrawal, saveWithdrawal, sumOwed } from './store.ts'
import {
  isWithdrawable,
  owedFor,
  partOf,
  SMALLEST_PART,
  type Withdrawal,
  type WithdrawalFailure,
} from './withdrawal.ts'

const BATCH = 100

/** Advances all withdrawals. Several workers can call it at once. An error with one does not stop the others. */
export async function settleWithdrawals(ctx: EarnContext): Promise<void> {
  const failures: unknown[] = []
  const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error))
  // Each pool by itself: those of a venue that cannot be reached must not delay the others.
  const pools = (await findPools(ctx.db)).map(async ({ key }) => {
    for (const requested of await findInStatus(ctx.db, 'requested', BATCH, key))
      await attempt(burn(ctx, requested))
  })
  await Promise.all(pools)
  for (const key of (await sumOwed(ctx.db)).keys()) {
    await attempt(fillQueue(ctx, key))
    await attempt(recallLacking(ctx, key))
  }
  if (failures.length > 0) throw new AggregateError(failures, 'Some withdrawals were not advanced')
}

/**
 * Burns the shares at what the venue pays now, which fixes the amount that is owed. A venue that lacks money or pays less than
 * it says decides nothing: the next reading pauses the pool and reports it, and then this is rejected.
 */
async function burn(ctx: EarnContext, { id, poolKey }: Withdrawal): Promise<void> {
  const [pool, venue] = [await findPool(ctx.db, poolKey), ctx.venues[poolKey]]
  if (pool === undefined || venue === undefined) return
  const reading = await readVenue(ctx, venue, pool)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPool(tx, poolKey)
    const withdrawal = await lockWithdrawal(tx, id)
    const now = ctx.clock.now()
    if (withdrawal.status !== 'requested') return
    if (locked.paused !== null)
      return saveWithdrawal(tx, withdrawal, { status: 'rejected', failure: 'pool_paused' }, now)
    // fix: burn-while-recalled
    if (await isBeingRecalled(tx, poolKey)) return
    // Something changed the pool meanwhile: the next sweep reads again.
    if (!isConfiguredAs(locked, venue) || !isCurrent(locked, reading, now)) return
    const { equity, missing } = await revalue(ctx, tx, locked, reading.value)
    if (missing > ZERO || !reading.isHonest) return
    const decided = await decide(tx, withdrawal, equity, now, minPayoutOn(ctx, pool.network))
    if (typeof decided === 'string')
      return saveWithdrawal(tx, withdrawal, { status: 'rejected', failure: decided }, now)
    const { position, amount } = decided
    const { idle, owed, recalled } = await liquidityOf(tx, pool)
    const wasLiquid = idle + recalled + reading.liquid >= owed + amount
    await burnShares(tx, position, now)
    await postNew(ctx, tx, {
      key: `earn.burned:${id}`,
      reason: 'earn.burned',
      subject: id,
      network: pool.network,
      moves: [
        { from: equityAccount(pool.network, poolKey), to: withdrawalAccount(pool.network, id), amount },
      ],
    })
    const burned = { status: 'queued', burnedShares: position.shares, amount, wasLiquid } as const
    await saveWithdrawal(tx, withdrawal, burned, now)
    await fill(ctx, tx, pool)
  })
}

interface Burned {
  /** The shares, and their part of the principal. */
  readonly position: Position
  readonly amount: Usdc
}

/** What to burn and what it is worth, or why nothing is burned. Only what the worker reads itself counts. */
async function decide(
  tx: Tx,
  { poolKey, holder, shares, destination }: Withdrawal,
  equity: Equity,
  now: Date,
  minPayout: Usdc,
): Promise<Burned | WithdrawalFailure> {
  const held = await findPosition(tx, poolKey, holder)
  const burned = shares ?? held?.shares ?? 0n
  if (held === undefined || burned === 0n || burned > held.shares) return 'insufficient_shares'
  if (!(await findPayers(tx, { poolKey, holder }, now)).includes(destination)) return 'wrong_destination'
  const amount = valueOfShares(burned, equity)
  if (amount === ZERO) return 'worth_nothing'
  if (!isWithdrawable(amount, burned === held.shares, minPayout)) return 'below_minimum'
  const principal = usdc((held.principal * burned) / held.shares)
  return { position: { poolKey, holder, shares: burned, principal }, amount }
}

const fillQueue = (ctx: EarnContext, key: string): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, key)
    if (pool.paused === null) await fill(ctx, tx, pool)
  })

/** Pays what is in the treasury to those who wait, oldest first. A large one gets a part and does not stop the queue. */
async function fill(ctx: EarnContext, tx: Tx, pool: Pool): Promise<void> {
  let { idle } = await liquidityOf(tx, pool)
  for (const withdrawal of await findInStatus(tx, 'queued', BATCH, pool.key)) {
    const amount = partOf(owedFor(withdrawal), idle, minPayoutOn(ctx, pool.network))
    if (amount === ZERO) return
    const now = ctx.clock.now()
    const n = await insertFill(tx, withdrawal, amount, now)
    await requestPayout(ctx, tx, {
      network: pool.network,
      kind: 'earn_withdrawal',
      subject: fillSubject(withdrawal.id, n),
      payee: withdrawal.destination,
      amount,
      from: withdrawalAccount(pool.network, withdrawal.id),
    })
    idle = usdc(idle - amount)
  }
}

/** The subject of the payout of one part. */
export const fillSubject = (id: string, n: number): string => `${id}:${n}`

/** Whether deposits of a locked pool are in the venue and have no shares yet. */
async function isBeingMinted(tx: Tx, key: string): Promise<boolean> {
  const transfers = await Promise.all((await findDeploying(tx, key)).map((id) => findVenueTransfer(tx, id)))
  return transfers.some((transfer) => transfer?.state === 'done')
}

/** Takes what the treasury lacks out of the venue, as far as the venue pays now. */
async function recallLacking(ctx: EarnContext, key: string): Promise<void> {
  const [pool, venue] = [await findPool(ctx.db, key), ctx.venues[key]]
  if (pool === undefined || venue === undefined || pool.paused !== null) return
  const { owed, idle, recalled } = await liquidityOf(ctx.db, pool)
  const lacking = owed - idle - recalled
  if (lacking <= 0n) return
  const [value] = await venue.valuesOf([pool.venueShares])
  const wanted = usdc(value !== undefined && value < lacking ? value : lacking)
  if (wanted === ZERO) return
  const amount = await venue.withdrawable(wanted)
  if (amount === ZERO || (amount < wanted && amount < SMALLEST_PART)) return
  await transact(ctx.db, async (tx) => {
    const locked = await lockPool(tx, key)
    // Deposits get their shares first: during a recall nobody's amount is fixed.
    // fix: mint-before-recall
    if (await isBeingMinted(tx, key)) return
    if (locked.venueShares === pool.venueShares) await requestRecall(ctx, tx, locked, amount)
  })
}
