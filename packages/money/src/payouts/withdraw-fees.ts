import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, balanceOf, fees, isOverdraft, type Move, post, stripesOf } from '../ledger/index.ts'
import { sumUnfinal } from '../payments/index.ts'
import type { NetworkAmount } from './earnings/store.ts'
import { saveApproval } from './limits/store.ts'
import { type Payout, payoutIdOf } from './payout.ts'
import { requestPayout } from './request-payout.ts'

type Ctx = Needs<'clock' | 'ids'>

/** What of the fees may leave: a payment that the chain reverses takes its fee back. */
export async function availableFees(db: Db | Tx, network: Network): Promise<Usdc> {
  const available = (await balanceOf(db, fees(network))) - (await sumUnfinal(db, network))
  return usdc(available > 0n ? available : 0n)
}

interface FeeWithdrawal extends NetworkAmount {
  /** An address of the configuration. */
  readonly payee: string
}

export async function requireFees(tx: Tx, { network, amount }: NetworkAmount): Promise<void> {
  const available = await availableFees(tx, network)
  if (available < amount) throw tooLow(network, available)
}

/** Fees that two operators withdraw: from the fees to a payout, which the caps do not hold. Once per approval. */
export async function withdrawFees(
  ctx: Ctx,
  tx: Tx,
  withdrawal: FeeWithdrawal,
  approvalId: string,
): Promise<Payout> {
  await requireFees(tx, withdrawal)
  try {
    const from = await gatherFees(ctx, tx, withdrawal, approvalId)
    const request = { ...withdrawal, kind: 'fee_withdrawal', subject: approvalId, from } as const
    const payout = await requestPayout(ctx, tx, request)
    await saveApproval(tx, payoutIdOf('fee_withdrawal', approvalId), approvalId, ctx.clock.now())
    return payout
  } catch (error) {
    // Another withdrawal was faster. The transaction is aborted, so the rest cannot be read here.
    if (isOverdraft(error)) throw takenMeanwhile(withdrawal.network)
    throw error
  }
}

/** The fees are stored in several stripes; each pays what it holds. Undefined when all together hold less. */
export async function movesFromFees(
  tx: Tx,
  { network, amount }: NetworkAmount,
  to: Account,
): Promise<Move[] | undefined> {
  const moves: Move[] = []
  let left: bigint = amount
  for (const from of stripesOf(fees(network))) {
    const held = await balanceOf(tx, from)
    const part = usdc(held < left ? held : left)
    if (part > 0n) moves.push({ from, to, amount: part })
    left -= part
  }
  return left === 0n ? moves : undefined
}

/** Moves enough of the fees to one stripe, because a payout is paid from one account. */
async function gatherFees(ctx: Ctx, tx: Tx, wanted: NetworkAmount, approvalId: string): Promise<Account> {
  const { network } = wanted
  const [first] = stripesOf(fees(network)) as [Account]
  const all = await movesFromFees(tx, wanted, first)
  if (all === undefined) throw takenMeanwhile(network)
  const moves = all.filter(({ from }) => from.subject !== first.subject)
  if (moves.length > 0)
    await post(ctx, tx, {
      key: `fees.gathered:${approvalId}`,
      reason: 'fees.gathered',
      subject: approvalId,
      network,
      moves,
    })
  return first
}

const tooLow = (network: Network, available: Usdc): ApiError =>
  new ApiError(
    'conflict',
    `${formatUsd(available)} USDC of fees can be withdrawn on ${network}; fees of payments that are not final stay. Propose a smaller amount.`,
    { code: 'fees_too_low' },
  )

const takenMeanwhile = (network: Network): ApiError =>
  new ApiError(
    'conflict',
    `Another withdrawal took the fees on ${network} at the same moment. Read the treasury and propose again.`,
    { code: 'fees_too_low' },
  )
