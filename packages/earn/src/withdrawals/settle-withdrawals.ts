import { type Tx, transact } from '@market/database/transact'
import { usdc, ZERO } from '@market/kernel/money'
import { withdrawal as withdrawalAccount } from '@market/money/ledger'
import { minPayoutOn, requestPayout } from '@market/money/payouts'
import { findPayers } from '../deposits/index.ts'
import {
  findPools,
  findPosition,
  lockPool,
  type MoneyContext,
  type Pool,
  type Position,
  queueShares,
  worthOf,
} from '../pools/index.ts'
import { beginRecall } from './begin-recall.ts'
import { settleRecall } from './settle-recall.ts'
import { findQueued, findRequested, insertFill, lockWithdrawal, saveDecision } from './store.ts'
import {
  hasOpenShares,
  isWithdrawable,
  openValue,
  partOf,
  unpaidOf,
  type Withdrawal,
  type WithdrawalFailure,
} from './withdrawal.ts'

const BATCH = 100

/** Advances all withdrawals. Several workers can call it at once. An error with one does not stop the others. */
export async function settleWithdrawals(ctx: MoneyContext): Promise<void> {
  const failures: unknown[] = []
  const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error))
  // Each pool by itself: those of a venue that cannot be reached must not delay the others.
  const pools = (await findPools(ctx.db)).map(async ({ key }) => {
    for (const requested of await findRequested(ctx.db, key, BATCH)) await attempt(takeShares(ctx, requested))
    await attempt(settleRecall(ctx, key))
    await attempt(payQueued(ctx, key))
    await attempt(beginRecall(ctx, key))
  })
  await Promise.all(pools)
  if (failures.length > 0) throw new AggregateError(failures, 'Some withdrawals were not advanced')
}

/** Takes the shares from the position at once, always: also while the venue pays nothing, or nobody can say what it is worth. */
const takeShares = (ctx: MoneyContext, { id, poolKey }: Withdrawal): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, poolKey)
    const withdrawal = await lockWithdrawal(tx, id)
    const now = ctx.clock.now()
    if (withdrawal.status !== 'requested') return
    const decided = await decide(tx, withdrawal, pool, now)
    if (typeof decided === 'string') return saveDecision(tx, withdrawal, { failure: decided }, now)
    await queueShares(tx, decided, now)
    await saveDecision(tx, withdrawal, decided, now)
  })

/** The shares to take with their part of the principal, or why none are taken. Only what the worker reads itself counts. */
async function decide(
  tx: Tx,
  { poolKey, holder, shares, destination }: Withdrawal,
  pool: Pool,
  now: Date,
): Promise<Position | WithdrawalFailure> {
  const held = await findPosition(tx, poolKey, holder)
  const taken = shares ?? held?.shares ?? 0n
  if (held === undefined || taken === 0n || taken > held.shares) return 'insufficient_shares'
  if (!(await findPayers(tx, { poolKey, holder }, now)).includes(destination)) return 'wrong_destination'
  if (!isWithdrawable(worthOf(taken, pool), taken === held.shares)) return 'below_minimum'
  return { poolKey, holder, shares: taken, principal: usdc((held.principal * taken) / held.shares) }
}

/** Requests payouts of what the vault paid for the withdrawals of a pool. */
const payQueued = (ctx: MoneyContext, key: string): Promise<void> =>
  transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, key)
    const { network } = pool
    const limits = { minPayout: minPayoutOn(ctx, network), perPayout: ctx.caps.perPayout }
    for (const withdrawal of await findQueued(tx, { poolKey: key })) {
      const rest = hasOpenShares(withdrawal) ? openValue(withdrawal, pool) : null
      let unpaid = unpaidOf(withdrawal)
      for (;;) {
        const amount = partOf(unpaid, rest, limits)
        if (amount === ZERO) break
        const n = await insertFill(tx, withdrawal, amount, ctx.clock.now())
        await requestPayout(ctx, tx, {
          network,
          kind: 'earn_withdrawal',
          subject: fillSubject(withdrawal.id, n),
          payee: withdrawal.destination,
          amount,
          from: withdrawalAccount(network, withdrawal.id),
        })
        unpaid = usdc(unpaid - amount)
      }
    }
  })

/** The subject of the payout of one part. */
export const fillSubject = (id: string, n: number): string => `${id}:${n}`
