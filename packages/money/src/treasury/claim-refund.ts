import { record } from '@market/core/audit'
import { type Actor, type Needs, payerWallets } from '@market/core/context'
import { isProvenOn, type Wallet, type WalletChain } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { transferName } from '../payments/index.ts'
import { lockUnmatched, refundTransfer, requireMinimum } from '../payouts/index.ts'
import { CHAIN_OF } from './payee.ts'
import { saveClaim } from './store.ts'
import { parseUnmatchedId, unmatchedIdOf } from './unmatched-id.ts'

type Ctx = Needs<'transact' | 'chains' | 'clock' | 'ids' | 'actor' | 'vault' | 'requestId'>

/** More claims than operators will read for one transfer: somebody sends them to hide the right one. */
const MOST_CLAIMS = 50

/**
 * The payer claims unmatched money and gets it back at once. For another wallet, such as that of a user who paid from an
 * exchange, the claim waits for two operators.
 */
export function claimRefund(
  ctx: Ctx,
  actor: Actor,
  claim: { readonly unmatchedId: string; readonly note?: string | undefined },
): Promise<ClaimedRefund> {
  const unmatched = parseUnmatchedId(claim.unmatchedId)
  const { network } = unmatched
  const unmatchedId = unmatchedIdOf(unmatched)
  return ctx.transact(async (tx) => {
    const { payer, amount } = await lockUnmatched(tx, unmatched)
    if (payer !== null && payerWallets(actor, network).includes(payer)) {
      const payout = await refundTransfer(ctx, tx, unmatched)
      await record(ctx, tx, {
        act: 'transfer.refund_claimed',
        subject: transferName(unmatched),
        details: { network, payout: payout.id, amount_usd: formatUsd(payout.amount) },
      })
      return { unmatchedId, network, payee: payer, amount: payout.amount }
    }
    if (actor.kind !== 'wallet') throw notLinked(payer)
    if (amount === 0n) throw new ApiError('conflict', `There is no money left in ${unmatchedId}.`)
    requireMinimum(ctx, { network, amount })
    const { wallet } = actor
    requireProven(wallet, CHAIN_OF[network], network)
    if (claim.note === undefined) throw noteMissing(payer)
    const stored = { unmatchedId, wallet: wallet.key, note: claim.note, createdAt: ctx.clock.now() }
    if (!(await saveClaim(tx, stored, MOST_CLAIMS))) throw tooManyClaims()
    return { unmatchedId, network, payee: wallet.key, amount: null }
  })
}

export interface ClaimedRefund {
  readonly unmatchedId: string
  readonly network: Network
  readonly payee: string
  /** Null while the claim waits for operators. */
  readonly amount: Usdc | null
}

const notLinked = (payer: string | null): ApiError =>
  new ApiError(
    'forbidden',
    `This money was sent by ${payer ?? 'an unknown wallet'}, which is not linked to your account. Sign with that wallet, or with the wallet that should get the money.`,
    { code: 'wrong_wallet' },
  )

/** A contract that was proven on another network can belong to someone else on this one. */
function requireProven(wallet: Wallet, chain: WalletChain, network: Network): void {
  if (wallet.chain === chain && isProvenOn(wallet, network)) return
  throw new ApiError('invalid', `The money is on ${network}. Sign with a wallet on that network.`, {
    details: [{ path: 'wallet', message: `must be a wallet on ${network}` }],
  })
}

const noteMissing = (payer: string | null): ApiError =>
  new ApiError(
    'invalid',
    `This money was sent by ${payer ?? 'an unknown wallet'}. Sign with that wallet to get it back at once. If an exchange sent it for you, say in note how you can prove it; two operators decide.`,
    { details: [{ path: 'note', message: 'is required when another wallet sent the money' }] },
  )

const tooManyClaims = (): ApiError =>
  new ApiError('conflict', 'Too many wallets claim this money. Contact us.', { code: 'too_many_claims' })
