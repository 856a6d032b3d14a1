import { findApproved, findApprovedById } from '@market/core/approvals'
import type { Tx } from '@market/database/transact'
import { minus, parseUsd, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findTransfer, transferName } from '../payments/index.ts'
import { isSameAddress } from './outgoing/outgoing-transfer.ts'
import { sumPaired } from './outgoing/store.ts'
import type { Payout, Unmatched } from './payout.ts'
import type { PayoutRule, PayoutTerms } from './payout-kind.ts'

/** Payouts that operators, or the payer of unmatched money, decided: without their decision nothing is due. */

interface Withdrawal {
  readonly network: Network
  readonly amount_usd: string
  readonly payee: string
}

/** As two operators approved it, and only to an address of this process's configuration. The subject is the approval. */
export const feeWithdrawal: PayoutRule = {
  capped: 'approved',
  async terms({ feeAddresses }, tx, payout) {
    const approved = (await findApprovedById(tx, 'withdraw_fees', payout.subject)) as Withdrawal | undefined
    if (approved === undefined) return undefined
    const { network } = approved
    const payees = [approved.payee, ...(await redirectedPayees(tx, payout))]
    return {
      network,
      amount: parseUsd(approved.amount_usd) ?? ZERO,
      // fix: known-fee-address
      payees: payees.filter((payee) => feeAddresses[network].some((one) => isSameAddress(one, payee))),
    }
  },
}

/** As two operators approved it, and only to the cold address of this process's configuration. */
export const coldMove: PayoutRule = {
  capped: 'approved',
  async terms({ chains }, tx, { network, subject }) {
    const approved = (await findApprovedById(tx, 'move_to_cold', subject)) as
      | Omit<Withdrawal, 'payee'>
      | undefined
    const address = chains[network]?.cold
    if (approved === undefined || address === undefined) return undefined
    return {
      network: approved.network,
      amount: parseUsd(approved.amount_usd) ?? ZERO,
      payees: [address],
    }
  },
}

/** The addresses to which two operators have redirected this payout. */
export async function redirectedPayees(tx: Tx, { id }: Payout): Promise<string[]> {
  const approved = (await findApproved(tx, 'redirect_payout', id)) as Redirection[]
  return approved.map(({ payee }) => payee)
}

/** Back to the payer of a final transfer, or to where two operators sent it. */
export async function unmatchedTerms(
  tx: Tx,
  payout: Payout,
  unmatched: Unmatched,
): Promise<PayoutTerms | undefined> {
  const { from, network } = unmatched
  const transfer = await findTransfer(tx, unmatched)
  if (transfer?.state !== 'final') return undefined
  const approved = (await findApproved(
    tx,
    'refund_unmatched',
    `${from}:${network}:${transferName(unmatched)}`,
  )) as Redirection[]
  const redirected = [...approved.map(({ payee }) => payee), ...(await redirectedPayees(tx, payout))]
  const amount = minus(transfer.amount, from === 'surplus' ? transfer.due : await sumPaired(tx, transfer))
  return { network, amount, payees: transfer.payer === null ? redirected : [transfer.payer, ...redirected] }
}

interface Redirection {
  readonly payee: string
}
