import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import { agentNotFound, findAgent } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { findToken, noToken, type Token } from '../tokens/index.ts'
import type { WalletServices } from '../wallets/index.ts'
import { type CreatorFee, formatSol } from './creator-fee.ts'
import { feesNotConfigured } from './errors.ts'
import { splitFees } from './split.ts'
import { findFeeBySource, insertFee } from './store.ts'
import { notProven, requireIncome } from './verify-income.ts'

export interface CreatorFeeSettings {
  /** The platform's wallet on Solana that receives creator fees. Without it none can be recorded. */
  readonly creatorFeeWallet?: string | undefined
}

type Ctx = Needs<'transact' | 'db' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'> &
  Pick<WalletServices, 'wallets'> &
  CreatorFeeSettings

interface NewFee {
  readonly agentId: string
  readonly lamports: bigint
  readonly sourceTx: string
}

/** An operator records a creator fee that reached the platform. The same request again returns the recorded fee. */
export async function recordCreatorFee(ctx: Ctx, wanted: NewFee): Promise<CreatorFee> {
  const token = await tokenOf(ctx, wanted.agentId)
  if ((await findFeeBySource(ctx.db, wanted.sourceTx)) === undefined) await requirePaid(ctx, token, wanted)
  return ctx.transact(async (tx) => {
    const fee = newFee(ctx, token, wanted)
    if (await insertFee(tx, fee)) {
      const { id: creator_fee_id, mode, sourceTx: source_tx } = fee
      const details = { creator_fee_id, mode, source_tx, amount_sol: formatSol(fee.amount) }
      await record(ctx, tx, { act: 'creator_fees.record', subject: fee.agentId, details })
      return { ...fee, settlement: null, reversal: null }
    }
    const before = await findFeeBySource(tx, wanted.sourceTx)
    assert(before !== undefined, `a fee of ${wanted.sourceTx} is recorded`)
    if (before.agentId !== wanted.agentId || before.amount !== wanted.lamports) throw alreadyRecorded(before)
    return before
  })
}

async function tokenOf(ctx: Needs<'db'>, agentId: string): Promise<Token> {
  const agent = await findAgent(ctx.db, agentId)
  if (agent === undefined) throw agentNotFound(agentId)
  const token = await findToken(ctx.db, agent.id)
  if (token === undefined) throw noToken()
  return token
}

/** The transaction must have paid exactly this, and name the mint: otherwise the fee could be of another token. */
async function requirePaid(ctx: Ctx, { mint }: Token, { lamports, sourceTx }: NewFee): Promise<void> {
  const { creatorFeeWallet } = ctx
  if (creatorFeeWallet === undefined) throw feesNotConfigured()
  const query = { reference: sourceTx, wallet: creatorFeeWallet, mint }
  const income = await requireIncome(ctx, 'source_tx', query)
  if (income.lamports !== lamports)
    throw notProven(
      'amount_sol',
      `is ${formatSol(lamports)} but the transaction paid ${formatSol(income.lamports)} SOL to ${creatorFeeWallet}`,
    )
  // fix: fee-of-mint
  if (!income.namesMint)
    throw notProven('source_tx', `does not name the mint ${mint}, as an account or as the text of a memo`)
}

const newFee = (
  ctx: Needs<'clock' | 'ids' | 'actor'>,
  { agentId, mint, mode }: Token,
  { lamports, sourceTx }: NewFee,
): Omit<CreatorFee, 'settlement' | 'reversal'> => ({
  id: ctx.ids.next('cfe'),
  agentId,
  mint,
  mode,
  amount: lamports,
  shares: splitFees(lamports, mode),
  sourceTx,
  recordedBy: nameOf(ctx.actor),
  createdAt: ctx.clock.now(),
})

const alreadyRecorded = ({ id, agentId, amount }: CreatorFee): ApiError =>
  new ApiError(
    'conflict',
    `source_tx is recorded as ${id}: ${formatSol(amount)} SOL for ${agentId}. Each transaction is recorded once.`,
    { code: 'source_tx_used', fields: { creator_fee_id: id } },
  )
