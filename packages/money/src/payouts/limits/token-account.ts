import type { Tx } from '@market/database/transact'
import { formatUsd, plus } from '@market/kernel/money'
import type { Hold } from '../hold.ts'
import type { Payout } from '../payout.ts'
import type { PayoutContext } from '../payout-context.ts'
import { findOpenedBy, sumBelowAccountMinimum } from './store.ts'

export type AccountDecision = { readonly hold: Hold } | { readonly hold?: never; readonly opens: boolean }

const CLOSED: AccountDecision = { hold: { code: 'payee_account_closed' } }

/**
 * Whether the treasury pays the rent of the payee's token account. The payee can close the account and keep the rent. So
 * it is paid once per agent, after the agent's earnings have paid fees that cover it, and never to a buyer, whose account
 * was open when it paid. Runs under the network's lock.
 */
export async function decideAccount(
  { caps }: Pick<PayoutContext, 'caps'>,
  tx: Tx,
  payout: Payout,
  createsAccount: boolean,
): Promise<AccountDecision> {
  const { id, agentId, kind, amount } = payout
  if (!createsAccount) return { opens: false }
  // fix: no-account-for-refund
  if (kind !== 'payout' || agentId === null) return CLOSED
  const openedBy = await findOpenedBy(tx, agentId)
  // A round of this payout that took effect would have ended it, so the account was not opened.
  if (openedBy === id) return { opens: true }
  if (openedBy !== undefined) return CLOSED
  // fix: account-minimum
  if (plus(amount, await sumBelowAccountMinimum(tx, payout)) >= caps.accountMinimum) return { opens: true }
  return { hold: { code: 'below_account_minimum', detail: `${formatUsd(caps.accountMinimum)} USDC` } }
}
