import type { Needs } from '@market/core/context'
import type { Db } from '@market/database/transact'
import { formatUsd, minus, type Usdc, usdc } from '@market/kernel/money'
import { type PayingWallet, sumUnderWay } from './payer-store.ts'

/** The codes of a wallet with too little USDC: on EVM chains, and on Solana or beside other payments. */
const CODES: ReadonlySet<string> = new Set(['invalid_exact_evm_insufficient_balance', 'insufficient_funds'])

export const isInsufficient = (code: string): boolean => CODES.has(code)

interface Rejected extends PayingWallet {
  readonly due: Usdc
}

/** Names the wallet, the network and the amounts, so that the payer knows where to send how much. */
export async function insufficientFunds(
  ctx: Needs<'chains'> & { readonly db: Db },
  rejected: Rejected,
): Promise<string> {
  const { payer, network } = rejected
  const [balance, underWay] = await Promise.all([
    payer === null ? undefined : ctx.chains[network]?.balanceOf(payer).catch(() => undefined),
    sumUnderWay(ctx.db, rejected),
  ])
  return fundsMessage(rejected, balance?.latest, underWay)
}

/** The balance is only named when it explains the rejection: it may have changed since, or be in another token account. */
export function fundsMessage(
  { payer, network, due }: Rejected,
  balance: Usdc | undefined,
  underWay: Usdc,
): string {
  const wallet = payer ?? 'The wallet'
  const isDue = `${formatUsd(due)} USDC is due`
  if (balance !== undefined && balance < due)
    return `${wallet} holds ${formatUsd(balance)} USDC on ${network}, and ${isDue}. Send ${formatUsd(minus(due, balance))} USDC to it, then pay again.`
  if (balance !== undefined && balance < due + underWay)
    return `${wallet} holds ${formatUsd(balance)} USDC on ${network}, of which ${formatUsd(underWay)} USDC is for payments under way, and ${isDue}. Send ${formatUsd(usdc(due + underWay - balance))} USDC to it, then pay again.`
  return `${wallet} has too little USDC on ${network}: ${isDue}. Send USDC to it, then pay again.`
}
