import { type DepositStatus, listDeposits } from '@market/earn/deposits'
import {
  type HeldPosition,
  type ListedWithdrawal,
  listPositions,
  listWithdrawals,
} from '@market/earn/withdrawals'
import type { Depositor, EarnWorld } from './earn-world.ts'
import { deposit, newDepositor, stepUntil } from './earn-world.ts'

const holderOf = ({ address }: Depositor) => `wallet:${address.toLowerCase()}`

/** The status of the newest deposit. */
export const statusOf = async ({ ctx }: EarnWorld, of: Depositor): Promise<DepositStatus | undefined> =>
  (await listDeposits(ctx, [holderOf(of)]))[0]?.status

export const failureOf = async ({ ctx }: EarnWorld, of: Depositor): Promise<string | null | undefined> =>
  (await listDeposits(ctx, [holderOf(of)]))[0]?.failure

export const positionOf = async ({ ctx }: EarnWorld, of: Depositor): Promise<HeldPosition | undefined> =>
  (await listPositions(ctx, [holderOf(of)]))[0]

/** The newest one. */
export const withdrawalOf = async (
  { ctx }: EarnWorld,
  of: Depositor,
): Promise<ListedWithdrawal | undefined> => (await listWithdrawals(ctx, [holderOf(of)]))[0]

/** Whether the newest withdrawal is paid and recorded. */
export async function isPaid(world: EarnWorld, of: Depositor): Promise<boolean> {
  const withdrawal = await withdrawalOf(world, of)
  const fills = withdrawal?.fills ?? []
  return withdrawal?.status === 'settled' && fills.every(({ payout }) => payout?.state === 'final')
}

/** Whether the newest deposit was paid back, and that is recorded. */
export const isRefunded = async ({ ctx }: EarnWorld, of: Depositor): Promise<boolean> =>
  (await listDeposits(ctx, [holderOf(of)]))[0]?.refund?.state === 'final'

/** A depositor whose deposit has shares. */
export async function enter(world: EarnWorld, micros: bigint): Promise<Depositor> {
  const depositor = await newDepositor(world)
  await deposit(world, depositor, micros)
  await stepUntil(
    world,
    'the deposit has shares',
    async () => (await statusOf(world, depositor)) === 'active',
  )
  return depositor
}
