import type { Needs } from '@market/core/context'
import { assert } from '@market/kernel/assert'
import { plus, type Usdc, ZERO } from '@market/kernel/money'
import { findPayoutOf, minPayoutOn, type Payout } from '@market/money/payouts'
import { findPools, type Pool } from '../pools/index.ts'
import { fillSubject } from './settle-withdrawals.ts'
import { findFills, findWithdrawals } from './store.ts'
import { hasOpenShares, isLiquid, openValue, type WaitsFor, type Withdrawal, waitsFor } from './withdrawal.ts'

const LISTED = 50

/** A withdrawal with what its open shares are worth, and the payouts of its parts. */
export interface ListedWithdrawal extends Withdrawal {
  readonly openValue: Usdc
  /** What was paid for it and what the rest is worth; null before the worker has decided. */
  readonly amount: Usdc | null
  /** Otherwise `amount` is an estimate. */
  readonly isFinal: boolean
  /** Whether the vault would pay for all that is open now. */
  readonly isLiquid: boolean
  readonly waitsFor: WaitsFor | null
  readonly fills: readonly { readonly amount: Usdc; readonly payout: Payout | undefined }[]
}

type Ctx = Needs<'db' | 'chains'>

/** The newest 50. */
export async function listWithdrawals(ctx: Ctx, holders: readonly string[]): Promise<ListedWithdrawal[]> {
  return describe(ctx, await findWithdrawals(ctx.db, holders, LISTED))
}

/** One that the worker has not decided yet. */
export const undecided = (withdrawal: Withdrawal): ListedWithdrawal => ({
  ...withdrawal,
  ...{ openValue: ZERO, amount: null, isFinal: false, isLiquid: false, waitsFor: null, fills: [] },
})

export async function describeWithdrawal(ctx: Ctx, withdrawal: Withdrawal): Promise<ListedWithdrawal> {
  const [described] = await describe(ctx, [withdrawal])
  assert(described !== undefined, 'one withdrawal is described')
  return described
}

async function describe(ctx: Ctx, withdrawals: readonly Withdrawal[]): Promise<ListedWithdrawal[]> {
  const pools = new Map((await findPools(ctx.db)).map((pool) => [pool.key, pool]))
  const ids = withdrawals.map(({ id }) => id)
  const fills = Map.groupBy(await findFills(ctx.db, ids), ({ withdrawalId }) => withdrawalId)
  return Promise.all(
    withdrawals.map(async (withdrawal) => {
      const pool = pools.get(withdrawal.poolKey)
      assert(pool !== undefined, `${withdrawal.poolKey} is a pool`)
      const paid = (fills.get(withdrawal.id) ?? []).map(async ({ n, amount }) => ({
        amount,
        payout: await findPayoutOf(ctx.db, 'earn_withdrawal', fillSubject(withdrawal.id, n)),
      }))
      return { ...withdrawal, ...shownOf(ctx, withdrawal, pool), fills: await Promise.all(paid) }
    }),
  )
}

function shownOf(ctx: Ctx, withdrawal: Withdrawal, pool: Pool) {
  const value = openValue(withdrawal, pool)
  const isDecided = withdrawal.burnedShares !== null
  return {
    openValue: value,
    amount: isDecided ? plus(withdrawal.paid, value) : null,
    isFinal: isDecided && !hasOpenShares(withdrawal),
    isLiquid: !hasOpenShares(withdrawal) || (pool.paused !== 'held' && isLiquid(pool)),
    waitsFor: waitsFor(withdrawal, pool, minPayoutOn(ctx, pool.network)),
  }
}
