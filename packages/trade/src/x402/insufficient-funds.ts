import { formatUsd, minus, type Usdc, usdc } from '@market/kernel/money'
import { sumUnderWay } from './payer-store.ts'
import type { PaymentProblem, Purchase, PurchaseContext, X402Reason } from './purchase.ts'

/** The codes of a wallet with too little USDC: on EVM chains, and on Solana or beside other payments. */
const CODES: ReadonlySet<string> = new Set(['invalid_exact_evm_insufficient_balance', 'insufficient_funds'])

export const isInsufficient = (code: string): code is X402Reason => CODES.has(code)

type Rejected = Pick<Purchase, 'id' | 'payer' | 'network' | 'due'>

/** Names the wallet, the network and the amounts, so that the payer knows where to send how much. */
export async function insufficientFunds(
  ctx: Pick<PurchaseContext, 'db' | 'chains'>,
  rejected: Rejected,
  code: X402Reason,
): Promise<PaymentProblem> {
  const { payer, network } = rejected
  const [balance, underWay] = await Promise.all([
    payer === null ? undefined : ctx.chains[network]?.balanceOf(payer).catch(() => undefined),
    sumUnderWay(ctx.db, rejected),
  ])
  return { code, message: fundsMessage(rejected, balance?.latest, usdc(underWay)) }
}

/** The balance is only named when it explains the rejection: it may have changed since, or be in another token account. */
export function fundsMessage(
  { payer, network, due }: Omit<Rejected, 'id'>,
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
