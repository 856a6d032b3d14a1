import { findApproved, findApprovedById } from '@market/core/approvals'
import type { Chains } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { minus, parseUsd, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findTransfer, transferName } from '../payments/index.ts'
import { isSameAddress } from './outgoing/outgoing-transfer.ts'
import { sumPaired } from './outgoing/store.ts'
import type { Payout } from './payout.ts'
import type { PayoutContext, PayoutTerms } from './payout-context.ts'
import { parseRefundSubject } from './refund-transfer.ts'

/**
 * What operators or the payer of unmatched money require a withdrawal, a move or a refund to be: without their decision nothing is
 * due. Undefined for payouts of other kinds.
 */
export async function decidedTerms(
  { feeAddresses, chains }: Pick<PayoutContext, 'feeAddresses' | 'chains'>,
  tx: Tx,
  payout: Payout,
): Promise<PayoutTerms | undefined> {
  if (payout.kind === 'fee_withdrawal') return withdrawalTerms(tx, payout, feeAddresses)
  if (payout.kind === 'move_to_cold') return coldTerms(tx, payout, chains)
  if (payout.kind !== 'surplus') return undefined
  return (await unmatchedTerms(tx, payout)) ?? { network: payout.network, amount: ZERO, payees: [] }
}

interface Withdrawal {
  readonly network: Network
  readonly amount_usd: string
  readonly payee: string
}

/** As two operators approved it, and only to an address of this process's configuration. The subject is the approval. */
async function withdrawalTerms(
  tx: Tx,
  payout: Payout,
  allowed: PayoutContext['feeAddresses'],
): Promise<PayoutTerms> {
  const { network, subject } = payout
  const approved = (await findApprovedById(tx, 'withdraw_fees', subject)) as Withdrawal | undefined
  if (approved === undefined) return { network, amount: ZERO, payees: [] }
  const payees = [approved.payee, ...(await redirectedPayees(tx, payout))]
  return {
    network: approved.network,
    amount: parseUsd(approved.amount_usd) ?? ZERO,
    // fix: known-fee-address
    payees: payees.filter((payee) => allowed[approved.network].some((one) => isSameAddress(one, payee))),
  }
}

/** As two operators approved it, and only to the cold address of this process's configuration. */
async function coldTerms(tx: Tx, { network, subject }: Payout, chains: Chains): Promise<PayoutTerms> {
  const approved = (await findApprovedById(tx, 'move_to_cold', subject)) as
    | Omit<Withdrawal, 'payee'>
    | undefined
  const address = chains[network]?.cold
  if (approved === undefined || address === undefined) return { network, amount: ZERO, payees: [] }
  return {
    network: approved.network,
    amount: parseUsd(approved.amount_usd) ?? ZERO,
    payees: [address],
  }
}

/** The addresses to which two operators have redirected this payout. */
export async function redirectedPayees(tx: Tx, { id }: Payout): Promise<string[]> {
  const approved = (await findApproved(tx, 'redirect_payout', id)) as Redirection[]
  return approved.map(({ payee }) => payee)
}

/** Back to the payer of a final transfer, or to where two operators sent it. */
async function unmatchedTerms(tx: Tx, payout: Payout): Promise<PayoutTerms | undefined> {
  const { network } = payout
  const unmatched = parseRefundSubject(network, payout.subject)
  if (unmatched === undefined) return undefined
  const { from } = unmatched
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
