import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { findAgentById, notifyOwner, payoutAddress } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { WalletServices } from '../wallets/index.ts'
import { type CreatorFee, formatSol } from './creator-fee.ts'
import { feeNotFound, feeReversed, feesNotConfigured } from './errors.ts'
import type { CreatorFeeSettings } from './record-creator-fee.ts'
import { findFee, lockFee, saveSettlement } from './store.ts'
import { notProven, requireIncome } from './verify-income.ts'

type Ctx = Needs<'transact' | 'db' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'> &
  Pick<WalletServices, 'wallets'> &
  CreatorFeeSettings

/**
 * An operator names the transaction that paid the agent's share to its payout address. The same request again returns the
 * settled fee.
 */
export async function settleCreatorFee(
  ctx: Ctx,
  { feeId, settleTx }: { readonly feeId: string; readonly settleTx: string },
): Promise<CreatorFee> {
  const fee = await findFee(ctx.db, feeId)
  if (fee === undefined) throw feeNotFound()
  if (fee.reversal !== null) throw feeReversed(fee.id)
  const payee = fee.settlement === null ? await requireShare(ctx, fee, settleTx) : null
  return ctx.transact(async (tx) => {
    const before = await lockFee(tx, fee.id)
    assert(before !== undefined, `${fee.id} is never deleted`)
    if (before.reversal !== null) throw feeReversed(before.id)
    if (before.settlement?.tx === settleTx) return before
    if (before.settlement !== null) throw alreadySettled(before.settlement.tx)
    assert(payee !== null, `${fee.id} was accrued`)
    const settlement = { tx: settleTx, by: nameOf(ctx.actor), at: ctx.clock.now() }
    const settled = await saveSettlement(tx, fee.id, settlement)
    if (settled === undefined) throw settleTxUsed()
    await report(ctx, tx, settled, { settleTx, payee })
    return settled
  })
}

/** Returns the address that received the share. What anybody else paid to it settles nothing. */
async function requireShare(ctx: Ctx, { agentId, shares }: CreatorFee, settleTx: string): Promise<string> {
  const agent = await findAgentById(ctx.db, agentId)
  const payee = await payoutAddress(ctx, ctx.db, agent, 'solana-mainnet')
  assert(payee !== null, `${agentId} has a server wallet`)
  const { creatorFeeWallet } = ctx
  if (creatorFeeWallet === undefined) throw feesNotConfigured()
  const query = { reference: settleTx, wallet: payee, payer: creatorFeeWallet }
  const { paid } = await requireIncome(ctx, 'settle_tx', query)
  // fix: fee-paid-by-platform
  if (paid >= shares.agent) return payee
  throw notProven(
    'settle_tx',
    `paid ${formatSol(paid)} SOL from ${creatorFeeWallet} to ${payee} but the agent’s share is ${formatSol(shares.agent)} SOL`,
  )
}

async function report(
  ctx: Ctx,
  tx: Tx,
  { id, agentId, shares }: CreatorFee,
  { settleTx, payee }: { readonly settleTx: string; readonly payee: string },
): Promise<void> {
  const agent_sol = formatSol(shares.agent)
  const details = { creator_fee_id: id, settle_tx: settleTx, payee, agent_sol }
  await record(ctx, tx, { act: 'creator_fees.settle', subject: agentId, details })
  const agent = await findAgentById(tx, agentId)
  await notifyOwner(ctx, tx, agent, {
    kind: 'agent.creator_fee_settled',
    title: `${agent.name} received creator fees`,
    body: `The transaction ${settleTx} paid ${agent_sol} SOL, the share of ${agent.name}, to ${payee}.`,
    data: details,
  })
}

const alreadySettled = (settleTx: string): ApiError =>
  new ApiError('conflict', `This creator fee was settled by ${settleTx}.`, { code: 'creator_fee_settled' })

const settleTxUsed = (): ApiError =>
  new ApiError('conflict', 'settle_tx settled another creator fee. Each transaction settles one fee.', {
    code: 'settle_tx_used',
  })
