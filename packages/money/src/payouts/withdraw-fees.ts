import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, balanceOf, fees, isOverdraft, type Move, post, stripesOf } from '../ledger/index.ts'
import { sumUnfinal } from '../payments/index.ts'
import { saveApproval } from './limits/store.ts'
import { type Payout, payoutIdOf } from './payout.ts'
import { requestPayout } from './request-payout.ts'

/** What of the fees may leave: a payment that the chain reverses takes its fee back. */
export async function availableFees(db: Db | Tx, network: Network): Promise<Usdc> {
  const available = (await balanceOf(db, fees(network))) - (await sumUnfinal(db, network))
  return usdc(available > 0n ? available : 0n)
}

interface FeeWithdrawal {
  readonly network: Network
  readonly amount: Usdc
  /** An address of the configuration. */
  readonly payee: string
}

export async function requireFees(tx: Tx, { network, amount }: Omit<FeeWithdrawal, 'payee'>): Promise<void> {
  const available = await availableFees(tx, network)
  if (available < amount) throw tooLow(network, available)
}

/** Fees that two operators withdraw: from the fees to a payout, which the caps do not hold. Once per approval. */
export async function withdrawFees(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, amount, payee }: FeeWithdrawal,
  approvalId: string,
): Promise<Payout> {
  await requireFees(tx, { network, amount })
  try {
    const payout = await requestPayout(ctx, tx, {
      network,
      kind: 'fee_withdrawal',
      subject: approvalId,
      payee,
      amount,
      from: await gatherFees(ctx, tx, network, amount, approvalId),
    })
    await saveApproval(tx, payoutIdOf('fee_withdrawal', approvalId), approvalId, ctx.clock.now())
    return payout
  } catch (error) {
    // Another withdrawal was faster. The transaction is aborted, so the rest cannot be read here.
    if (isOverdraft(error)) throw takenMeanwhile(network)
    throw error
  }
}

/** Moves enough of the fees to one stripe, because a payout is paid from one account. */
async function gatherFees(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  network: Network,
  amount: Usdc,
  approvalId: string,
): Promise<Account> {
  const [first, ...others] = stripesOf(fees(network)) as [Account, ...Account[]]
  const moves: Move[] = []
  let missing = amount - (await balanceOf(tx, first))
  for (const stripe of others) {
    if (missing <= 0n) break
    const held = await balanceOf(tx, stripe)
    const part = held < missing ? held : missing
    if (part <= 0n) continue
    moves.push({ from: stripe, to: first, amount: usdc(part) })
    missing -= part
  }
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
