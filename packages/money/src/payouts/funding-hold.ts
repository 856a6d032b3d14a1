import type { Tx } from '@market/database/transact'
import { formatUsd, type Usdc, usdc } from '@market/kernel/money'
import { balanceOf, payable } from '../ledger/index.ts'
import type { Transfer } from '../payments/index.ts'
import { findFundingTransfer } from './funding-transfer.ts'
import { contestHold, type Hold } from './hold.ts'
import { deleteSpent, saveSpent, sumSpent } from './limits/store.ts'
import { isSameAddress } from './outgoing/outgoing-transfer.ts'
import type { Payout } from './payout.ts'
import type { PayoutContext } from './payout-context.ts'
import { lockNetwork } from './store.ts'

/**
 * Why the ledger and the order do not authorize a locked payout; undefined when they do. The row alone authorizes
 * nothing: its amount must be reserved for it, and it must be what its order, the transfer that paid or an approval requires.
 */
export async function fundingHold(
  ctx: Pick<PayoutContext, 'payoutKinds' | 'feeAddresses' | 'chains' | 'clock'>,
  tx: Tx,
  payout: Payout,
): Promise<Hold | undefined> {
  const { id, network, amount } = payout
  const reserved = await balanceOf(tx, payable(network, id))
  // fix: payout-funded
  if (reserved !== amount)
    return { code: 'not_funded', detail: `${formatUsd(usdc(reserved))} USDC of ${formatUsd(amount)} USDC` }
  const terms = await ctx.payoutKinds[payout.kind].terms(ctx, tx, payout)
  if (terms === undefined)
    // fix: payout-required
    return { code: 'order_mismatch', detail: 'no order, payment or approval requires it' }
  if (terms.network !== network) return { code: 'order_mismatch', detail: `it is due on ${terms.network}` }
  if (terms.amount !== amount)
    return { code: 'order_mismatch', detail: `${formatUsd(terms.amount)} USDC is due` }
  const isNew = terms.newPayees?.find(({ address }) => isSameAddress(address, payout.payee))
  if (isNew !== undefined)
    return { code: 'new_address', ...(isNew.from && { detail: `until ${isNew.from.toISOString()}` }) }
  // fix: payout-payee
  if (!terms.payees.some((payee) => isSameAddress(payee, payout.payee)))
    return { code: 'order_mismatch', detail: 'it is due to another address' }
  // fix: transfer-not-exceeded
  if (await exceedsTransfer(tx, payout))
    return { code: 'order_mismatch', detail: 'other payouts have used the payment that funds it' }
  return terms.wait && contestHold(terms.wait, ctx.clock.now())
}

/** The payouts of a transfer together never exceed it, whatever it was claimed for meanwhile. */
async function exceedsTransfer(tx: Tx, payout: Payout): Promise<boolean> {
  const transfer = await findFundingTransfer(tx, payout)
  if (transfer === undefined) return false
  return (await sumSpent(tx, transfer, payout.id)) + payout.amount > transfer.amount
}

/** Of an authorized payout: what the transfer behind it is paid out for. */
export async function recordSpending(tx: Tx, payout: Payout): Promise<void> {
  const transfer = await findFundingTransfer(tx, payout)
  if (transfer === undefined) return
  await deleteSpent(tx, payout.id)
  await saveSpent(tx, payout, transfer)
}

/** Whether no payout used this part of a transfer. Until the commit, none of the network is authorized. */
export async function hasUnspent(tx: Tx, transfer: Transfer, amount: Usdc): Promise<boolean> {
  await lockNetwork(tx, transfer.network)
  return (await sumSpent(tx, transfer)) + amount <= transfer.amount
}
